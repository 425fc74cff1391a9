import { readFileSync, readdirSync } from 'node:fs'

import { DOMParser } from '@xmldom/xmldom'
import { Big } from 'big.js'
import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryDay, HistoryProvider, LatestProvider } from '../../src/index.ts'
import * as banks from '../../src/providers/index.ts'
import { createCalendar, daysFrom } from '../../src/rates/calendar.ts'
import { isWeekend } from '../oracle.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

const bytesOf = (file: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(recording(`data/banks/${file}`)))

/** All recorded responses are ASCII, but for names in `cbr/` and byte order marks. */
const textOf = (file: string): string => readFileSync(recording(`data/banks/${file}`), 'latin1')

/** A quote of another program: `price` per `units`, or `rate`; numbers are texts as published. */
interface Published {
  date: string
  code: string
  price?: string
  units?: string | undefined
  rate?: string
}

interface RecordedBank {
  create: () => Partial<LatestProvider> & HistoryProvider
  range: readonly [start: string, end: string]
  /** Returns the file with the response to a request. */
  fileFor: (url: string) => string | undefined
  /** Reads the files with another program. */
  published: () => Published[]
  /** The number of quotes that are compared with the European Central Bank's, and the largest deviation of majors. */
  compared: number
  within?: number
  /** Changes a response. */
  narrow?: (text: string) => string
  /** Why the recorded days are not all that a handler requests (default they are). */
  partOf?: string
}

const column = (row: Record<string, string>, name: string): string => row[name]?.trim() ?? ''

const rowsOf = (text: string, delimiter = ','): Record<string, string>[] =>
  Papa.parse<Record<string, string>>(text.trim(), { header: true, delimiter }).data

const elementsOf = (text: string, name: string) => [
  ...new DOMParser().parseFromString(text, 'text/xml').getElementsByTagName(name),
]

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Returns the day of `17 Mar 2026` or `17-Mar-2026`. */
function fromName(text: string): string {
  const [day, month = '', year] = text.split(/[ -]/)
  return `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day}`
}

const fromDayFirst = (text: string): string => text.split(/[./-]/).toReversed().join('-')

/** Returns the quotes that a pattern with names finds in a file. */
function quotesIn(file: string, pattern: RegExp, change = (date: string): string => date) {
  return [...textOf(file).matchAll(pattern)].map(({ groups = {} }): Published => {
    const { date = '', code = '', ...quote } = groups
    return { date: change(date), code, ...quote }
  })
}

/** Numbers of JSON as they are written. */
const WRITTEN = /("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?)/g

/** Reads JSON with its numbers as texts. */
function readTexts(file: string): ReturnType<typeof JSON.parse> {
  const text = textOf(file)
  return JSON.parse(text.replaceAll(WRITTEN, (all, quoted) => (quoted ? all : `"${all}"`)))
}

const SDMX = (currency: string) => (text: string) =>
  rowsOf(text)
    .filter((row) => /^[A-Z]{3}$/.test(column(row, currency)) && column(row, currency) !== 'TWI')
    .map((row): Published => {
      const units = `1${'0'.repeat(Number(column(row, 'UNIT_MULT')))}`
      const [date, price] = [column(row, 'TIME_PERIOD'), column(row, 'OBS_VALUE')]
      return { date, code: column(row, currency), price, units }
    })

/** Reads lines of `name=CODE;name=CODE`. */
const codesByName = (text: string): ReadonlyMap<string, string> =>
  new Map(text.split(/[;\n]/).map((pair) => [pair.slice(0, -4), pair.slice(-3)]))

const IMF_NAMES =
  codesByName(`Chinese yuan=CNY;Euro(1)=EUR;Japanese yen=JPY;U.K. pound(1)=GBP;Algerian dinar=DZD
Australian dollar(1)=AUD;Botswana pula(1)=BWP;Brazilian real=BRL;Brunei dollar=BND
Canadian dollar=CAD;Chilean peso=CLP;Czech koruna=CZK;Danish krone=DKK;Indian rupee=INR
Israeli New Shekel=ILS;Korean won=KRW;Kuwaiti dinar=KWD;Malaysian ringgit=MYR
Mauritian rupee=MUR;Mexican peso=MXN;New Zealand dollar(1)=NZD;Norwegian krone=NOK
Omani rial=OMR;Peruvian sol=PEN;Philippine peso=PHP;Polish zloty=PLN;Qatari riyal=QAR
Saudi Arabian riyal=SAR;Singapore dollar=SGD;Swedish krona=SEK;Swiss franc=CHF;Thai baht=THB
Trinidadian dollar=TTD;U.A.E. dirham=AED;Uruguayan peso=UYU`)
const FRED_SERIES =
  codesByName(`BZUS=BRL;CAUS=CAD;DNUS=DKK;HKUS=HKD;JPUS=JPY;KOUS=KRW;MXUS=MXN;NOUS=NOK;SFUS=ZAR;SIUS=SGD
SZUS=CHF;TAUS=TWD;USAL=AUD;USEU=EUR;USUK=GBP`)
const BANXICO_SERIES = codesByName(`SF43718=USD;SF46410=EUR;SF46407=GBP;SF46406=JPY;SF60632=CAD`)

const FRED_FILES = HAS_RECORDINGS ? readdirSync(recording('data/banks/fred')) : []

/** Files by the series or the currency in their URL. */
function byUrl(pattern: RegExp): Map<string, string> {
  if (!HAS_RECORDINGS) return new Map()
  const index: { file: string; url: string }[] = JSON.parse(textOf('index.json'))
  return new Map(
    index.flatMap(({ file, url }) => {
      const [, name] = pattern.exec(url) ?? []
      return name === undefined ? [] : [[name, file]]
    }),
  )
}

const FRED = byUrl(/series_id=(DEX\w+)/)
const BCB = byUrl(/CotacaoMoedaPeriodo.*@moeda=%27(\w{3})%27/)
const CBR = byUrl(/VAL_NM_RQ=(R\w+)/)

/** Reads tables of Narodowy Bank Polski without a parser of JSON. */
function polishQuotes(file: string): Published[] {
  const [, ...tables] = textOf(file).split('"effectiveDate":"')
  return tables.flatMap((table) =>
    [...table.matchAll(/"code":"([A-Z]{3})","mid":([\d.]+)\}/g)].map(
      ([, code = '', price = '']) => ({ date: table.slice(0, 10), code, price }),
    ),
  )
}

const RUSSIA: RecordedBank = {
  create: banks.createCbrProvider,
  range: ['2026-04-25', '2026-04-25'],
  fileFor: () => 'cbr/01.xml',
  published: () =>
    elementsOf(textOf('cbr/01.xml'), 'Valute').map((each) => {
      const [code = '', units, price = ''] = ['CharCode', 'Nominal', 'Value'].map(
        (name) => each.getElementsByTagName(name)[0]?.textContent ?? '',
      )
      return { date: '2026-04-25', code, units, price: price.replace(',', '.') }
    }),
  compared: 0,
  partOf: 'other days of the series',
}

const BANKS: Record<string, RecordedBank> = {
  'Norges Bank': {
    create: banks.createNorgesBankProvider,
    range: ['2026-03-16', '2026-03-24'],
    fileFor: () => 'nb/01.csv',
    published: () => SDMX('BASE_CUR')(textOf('nb/01.csv')),
    compared: 7,
  },
  'the Bank of Israel': {
    create: banks.createBankOfIsraelProvider,
    range: ['2026-03-01', '2026-03-20'],
    fileFor: () => 'boi/01.csv',
    published: () => SDMX('BASE_CURRENCY')(textOf('boi/01.csv')),
    compared: 7,
    // The recorded pound differs from the dollar's by 1.5 %.
    within: 0.03,
  },
  'the Bank of Canada': {
    create: banks.createBankOfCanadaProvider,
    range: ['2026-03-12', '2026-03-18'],
    fileFor: () => 'boc/01.json',
    published() {
      const series = /"FX([A-Z]{3})CAD": \{\s+"v": "([\d.]+)"/g
      return textOf('boc/01.json')
        .split('"d": "')
        .slice(1)
        .flatMap((day) =>
          [...day.matchAll(series)].map(([, code = '', price = '']): Published => {
            return { date: day.slice(0, 10), code, price }
          }),
        )
    },
    compared: 7,
  },
  'Sveriges Riksbank': {
    create: banks.createRiksbankProvider,
    range: ['2026-03-24', '2026-03-28'],
    fileFor: () => 'rb/01.json',
    published: () =>
      quotesIn(
        'rb/01.json',
        /"seriesId":"SEK(?<code>[A-Z]{3})PMI","date":"(?<date>[\d-]+)","value":(?<price>[\d.]+)/g,
      ),
    compared: 7,
  },
  'Danmarks Nationalbank': {
    create: banks.createDanmarksNationalbankProvider,
    range: ['2025-04-03', '2026-03-31'],
    fileFor: () => 'dnb/01.csv',
    // The recorded response has a month more.
    narrow: (text) => text.replaceAll(/^.*;2025M03D\d\d;.*\r?\n|^.*;2025M04D0[12];.*\r?\n/gm, ''),
    published: () =>
      rowsOf(textOf('dnb/01.csv').replace(/^[^V]+/, ''), ';')
        .filter((row) => column(row, 'INDHOLD') !== '..')
        .map((row) => {
          const date = column(row, 'TID').replaceAll(/[MD]/g, '-')
          return { date, code: column(row, 'VALUTA'), price: column(row, 'INDHOLD'), units: '100' }
        }),
    compared: 7,
    partOf: 'more than a year',
  },
  'Banca Națională a României': {
    create: banks.createBnrProvider,
    range: ['2026-01-01', '2026-08-19'],
    fileFor: () => 'bnr/01.xml',
    published: () =>
      elementsOf(readFileSync(recording('data/banks/bnr/01.xml'), 'utf8'), 'Rate')
        .filter(({ textContent }) => textContent !== '-')
        .map((rate) => {
          const date = Object(rate.parentNode).getAttribute('date')
          const code = rate.getAttribute('currency') ?? ''
          const units = rate.getAttribute('multiplier') ?? undefined
          const price = new Big(rate.textContent ?? '')
          // Gold is quoted by the gram.
          return {
            date,
            code,
            price: (code === 'XAU' ? price.times('31.1034768') : price).toFixed(),
            units,
          }
        }),
    compared: 7,
  },
  'Magyar Nemzeti Bank': {
    create: banks.createMnbProvider,
    range: ['2025-03-24', '2025-03-28'],
    fileFor: () => 'mnb/01.xml',
    published() {
      const [result] = elementsOf(textOf('mnb/01.xml'), 'GetExchangeRatesResult')
      return elementsOf(result?.textContent ?? '', 'Rate').map((rate) => ({
        date: Object(rate.parentNode).getAttribute('date'),
        code: rate.getAttribute('curr') ?? '',
        price: (rate.textContent ?? '').replace(',', '.'),
        units: rate.getAttribute('unit') ?? '',
      }))
    },
    compared: 7,
  },
  'the Bank of England': {
    create: banks.createBankOfEnglandProvider,
    range: ['2026-03-17', '2026-03-20'],
    fileFor: () => 'boe/01.csv',
    published() {
      // In the order of the request.
      const codes =
        'USD EUR JPY CAD CHF AUD NZD NOK SEK DKK HKD SGD SAR ZAR TWD CZK HUF PLN ILS MYR THB CNY KRW TRY INR RON'
      const { data } = Papa.parse<string[]>(textOf('boe/01.csv').trim())
      return data.slice(1).flatMap(([day = '', ...cells]) =>
        codes.split(' ').map((code, index): Published => {
          return { date: fromName(day), code, rate: cells[index]?.trim() ?? '' }
        }),
      )
    },
    compared: 7,
  },
  'the Reserve Bank of Australia': {
    create: banks.createRbaProvider,
    range: ['2023-01-03', '2026-03-20'],
    fileFor: () => 'rba/01.txt',
    published() {
      const { data } = Papa.parse<string[]>(textOf('rba/01.txt'))
      const units = data.find(([name]) => name === 'Units') ?? []
      return data
        .filter(([day = '']) => /^\d\d-[A-Z][a-z]{2}-\d{4}$/.test(day))
        .flatMap(([day = '', ...cells]) =>
          cells.map((rate, index): Published => {
            const code = (units[index + 1] ?? '').replace('SDR', 'XDR')
            return { date: fromName(day), code, rate }
          }),
        )
        .filter(({ code, rate }) => code !== 'Index' && rate !== '')
    },
    compared: 6,
    // Eight hours before.
    within: 0.04,
  },
  'the Bank of Russia': RUSSIA,

  'Banco Central do Brasil': {
    create: banks.createBcbProvider,
    range: ['2026-03-01', '2026-03-07'],
    fileFor: (url) => BCB.get(/@moeda=%27(\w{3})/.exec(url)?.[1] ?? '') ?? 'bcb/none',
    published: () =>
      [...BCB].flatMap(([code, file]) => {
        const row = /"cotacaoCompra":([\d.]+),"cotacaoVenda":([\d.]+),"dataHoraCotacao":"([\d-]+)/g
        return [...textOf(file).matchAll(row)].map(([, buying = '', selling = '', date = '']) => {
          return { date, code, price: new Big(buying).plus(selling).div(2).toFixed() }
        })
      }),
    compared: 5,
  },
  'Financial Benchmarks India': {
    create: banks.createFbilProvider,
    range: ['2026-03-17', '2026-03-21'],
    fileFor: () => 'fbil/01.json',
    published: () =>
      quotesIn(
        'fbil/01.json',
        /"processRunDate":"(?<date>[\d-]+) 00:00:00","subProdName":"INR \/ (?<units>\d+) (?<code>[A-Z]{3})","displayTime":"[^"]*","rate":(?<price>[\d.]+)/g,
      ),
    compared: 3,
    within: 0.015,
  },
  'the International Monetary Fund': {
    create: banks.createImfProvider,
    range: ['2026-03-01', '2026-03-31'],
    fileFor: (url) => (url.includes('reportType=REP') ? 'imf/01.txt' : 'imf/sdrcv'),
    published() {
      let days: string[] = []
      return textOf('imf/01.txt')
        .split(/\r?\n/)
        .flatMap((line) => {
          const [name = '', ...cells] = line.split('\t')
          if (name === 'Currency')
            days = cells.map((cell) => new Date(`${cell.trim()} UTC`).toISOString().slice(0, 10))
          const code = IMF_NAMES.get(name.trim())
          if (code === undefined) return []
          return cells.flatMap((cell, index): Published[] => {
            const value = cell.trim().replace(',', '')
            const quote = { date: days[index] ?? '', code }
            if (!/^[\d.]+$/.test(value)) return []
            return [name.includes('(1)') ? { ...quote, price: value } : { ...quote, rate: value }]
          })
        })
    },
    compared: 7,
    within: 0.015,
  },
  'the National Bank of Ukraine': {
    create: banks.createNbuProvider,
    range: ['2026-03-01', '2026-03-16'],
    fileFor: () => 'nbu/01.json',
    published: () =>
      quotesIn(
        'nbu/01.json',
        /"exchangedate":"(?<date>[\d.]+)","r030":\d+,"cc":"(?<code>[A-Z]{3})".*?"rate":(?<price>[\d.]+),"units":(?<units>\d+)/g,
        fromDayFirst,
        // Weekends repeat the Friday.
      ).filter(({ date }) => !isWeekend(date)),
    compared: 7,
    partOf: 'a shorter range',
    within: 0.015,
  },
  FRED: {
    create: () => banks.createFredProvider({ key: 'a-key' }),
    range: ['2026-03-01', '2026-03-13'],
    fileFor: (url) => FRED.get(/series_id=(DEX\w+)/.exec(url)?.[1] ?? '') ?? 'fred/none',
    published() {
      expect(FRED.size).toBe(FRED_FILES.length)
      return [...FRED].flatMap(([series, file]) => {
        const code = FRED_SERIES.get(series.slice(3)) ?? series
        return [...textOf(file).matchAll(/"date":"([\d-]+)","value":"([\d.]*\d)"/g)].map(
          ([, date = '', value = '']): Published =>
            series.startsWith('DEXUS') ? { date, code, price: value } : { date, code, rate: value },
        )
      })
    },
    compared: 7,
    partOf: 'some of the currencies',
  },
  'Banco de México': {
    create: () => banks.createBanxicoProvider({ key: 'a-key' }),
    range: ['2026-03-01', '2026-03-15'],
    fileFor: () => 'banxico/01.json',
    published() {
      return textOf('banxico/01.json')
        .split('"idSerie":"')
        .slice(1)
        .flatMap((series) =>
          [...series.matchAll(/"fecha":"([\d/]+)","dato":"([\d.]+)"/g)].map(
            ([, date = '', price = '']) => {
              return {
                date: fromDayFirst(date),
                code: BANXICO_SERIES.get(series.slice(0, 7)) ?? '',
                price,
              }
            },
          ),
        )
    },
    compared: 3,
    within: 0.015,
  },
  "Banca d'Italia": {
    create: banks.createBancaDItaliaProvider,
    range: ['2026-02-09', '2026-02-10'],
    fileFor: (url) => `bdi/0${url.includes('referenceDate=2026-02-09') ? 1 : 2}.csv`,
    published: () =>
      ['bdi/01.csv', 'bdi/02.csv'].flatMap((file) =>
        rowsOf(textOf(file).split('\n\n')[0] ?? '')
          .filter((row) => column(row, 'Rate') !== 'N.A.')
          .map((row) => {
            expect(column(row, 'Rate convention')).toBe('Foreign currency amount for 1 Euro.')
            const [date, code] = [column(row, 'Reference date (CET)'), column(row, 'ISO Code')]
            return { date, code, rate: column(row, 'Rate') }
          }),
      ),
    compared: 9,
    within: 0,
    partOf: 'no series',
  },
  'Narodowy Bank Polski': {
    create: banks.createNbpProvider,
    range: ['2026-03-02', '2026-03-05'],
    fileFor: () => 'nbp/01.json',
    published: () => polishQuotes('nbp/01.json'),
    compared: 9,
    within: 0.015,
  },
  'Narodowy Bank Polski, table B': {
    create: () => banks.createNbpProvider({ table: 'B' }),
    range: ['2026-03-02', '2026-03-05'],
    fileFor: () => 'nbp/02.json',
    published: () => polishQuotes('nbp/02.json'),
    compared: 0,
  },
  'Česká národní banka': {
    create: banks.createCnbProvider,
    range: ['2026-01-01', '2026-04-02'],
    fileFor: () => 'cnb/01.json',
    published: () =>
      quotesIn(
        'cnb/01.json',
        /"currencyCode":"(?<code>[A-Z]{3})","amount":(?<units>10*),"validFor":"(?<date>[\d-]+)","rate":(?<price>[\d.]+)/g,
      ),
    compared: 9,
    within: 0.005,
  },
  'the Central Bank of the Republic of Türkiye': {
    create: () => banks.createTcmbProvider({ key: 'a-key' }),
    range: ['2026-03-01', '2026-03-22'],
    fileFor: () => 'tcmb/01.json',
    published() {
      const { items }: { items: Record<string, string | null>[] } = readTexts('tcmb/01.json')
      return items.flatMap((item) =>
        Object.entries(item).flatMap(([name, buying]): Published[] => {
          const [, code] = /^TP_DK_([A-Z]{3})_A_YTL$/.exec(name) ?? []
          const selling = item[`TP_DK_${code}_S_YTL`]
          if (code === undefined || typeof buying !== 'string' || typeof selling !== 'string')
            return []
          const price = new Big(buying).plus(selling).div(2).toFixed()
          return [
            {
              date: fromDayFirst(item['Tarih'] ?? ''),
              code,
              price,
              units: code === 'JPY' ? '100' : '1',
            },
          ]
        }),
      )
    },
    compared: 5,
    within: 0.015,
    partOf: 'a shorter range',
  },
}

/** A response of the fund's second report, which was not recorded, in the form of the first. */
const DRAWING_RIGHTS =
  'SDRs per currency unit\nCurrency\tMarch 02, 2026\tMarch 03, 2026\nU.S. dollar\t0.731000\t0.732000\n\nNotes:\n'

/** Responses of series that were not recorded. */
const EMPTY: Record<string, string> = {
  'imf/sdrcv': DRAWING_RIGHTS,
  'bcb/none': '{"value":[]}',
  'fred/none': '{"observations":[]}',
}

function contextOf({ fileFor, narrow, range: [, end] }: RecordedBank) {
  return {
    async fetch(input: RequestInfo | URL): Promise<Response> {
      const file = fileFor(String(input instanceof Request ? input.url : input)) ?? ''
      const empty = EMPTY[file]
      return new Response(empty ?? narrow?.(textOf(file)) ?? bytesOf(file))
    },
    signal: new AbortController().signal,
    now: () => Date.parse(`${end}T23:00:00Z`),
  }
}

async function daysOf(bank: RecordedBank): Promise<{ base: string; days: HistoryDay[] }> {
  const [start, end] = bank.range
  return bank.create().fetchHistory({ start, end }, contextOf(bank))
}

/** Returns quotes as lines, sorted. */
function linesOf(days: readonly HistoryDay[]): string[] {
  return days
    .flatMap(({ date, rates, prices = {} }) => [
      ...Object.entries(rates).map(([code, rate]) => `${date} ${code} rate ${rate}`),
      ...Object.entries(prices).map(([code, price]) => `${date} ${code} price ${price}`),
    ])
    .toSorted()
}

function linesExpected({ published, range: [start, end] }: RecordedBank, base: string): string[] {
  const lines = published()
    .filter(({ date, code }) => date >= start && date <= end && code !== base)
    .map(({ date, code, price, units = '1', rate = '' }) => {
      if (price === undefined) return `${date} ${code} rate ${Number(rate)}`
      // A division by a power of ten is exact.
      return `${date} ${code} price ${Number(new Big(price).div(units).toFixed())}`
    })
  return [...new Set(lines)].toSorted()
}

const ECB: ReadonlyMap<string, Record<string, string>> = new Map(
  HAS_RECORDINGS
    ? rowsOf(readFileSync(recording('data/ecb/eurofxref-hist.csv'), 'utf8')).map((row) => [
        column(row, 'Date'),
        row,
      ])
    : [],
)

const MAJORS = ['USD', 'JPY', 'GBP', 'CHF', 'CAD', 'AUD', 'SEK', 'NOK', 'DKK']

/** Returns the majors of each day against the euro, divided by the rate of the European Central Bank. */
function ratiosOf(base: string, days: readonly HistoryDay[]): { at: string; ratio: number }[] {
  return days.flatMap(({ date, rates, prices = {} }) => {
    const inBase = (code: string): number =>
      code === base ? 1 : (rates[code] ?? 1 / (prices[code] ?? NaN))
    return MAJORS.flatMap((code) => {
      const official = Number(ECB.get(date)?.[code])
      const ratio = inBase(code) / inBase('EUR') / official
      return Number.isNaN(ratio) ? [] : [{ at: `${date} ${code}`, ratio }]
    })
  })
}

const SERVED = Object.entries(BANKS).filter(([, { partOf }]) => partOf === undefined)
/** Without those that were closed, or published, against their calendars on recorded days. */
const REGULAR = Object.entries(BANKS).filter(([name]) => !/Israel|India|FRED|Türkiye/.test(name))

describe.skipIf(!HAS_RECORDINGS)(`a recorded response ${NEEDS_RECORDINGS}`, () => {
  describe.each(Object.entries(BANKS))('of %s', (_, bank) => {
    it('is read as another program does, to the digit', async () => {
      const { base, days } = await daysOf(bank)
      const lines = linesOf(days).filter((line) => !/ XDR rate 0\.73[12]$/.test(line))
      const expected = linesExpected(bank, base)
      expect(expected.length).toBeGreaterThan(9)
      expect(lines).toEqual(expected)
    })

    it('has direction and units of the European Central Bank', async () => {
      const { base, days } = await daysOf(bank)
      const ratios = ratiosOf(base, days)
      const { compared, within = 0.01 } = bank
      expect(new Set(ratios.map(({ at }) => at.slice(11))).size).toBeGreaterThanOrEqual(compared)
      expect(ratios.filter(({ ratio }) => Math.abs(ratio - 1) > within)).toEqual([])
    })
  })

  it.each(REGULAR)('of %s has the days of the calendar', async (_, bank) => {
    const { publication } = bank.create()
    if (!publication) throw new Error('the provider declares no publication')
    const { isPublished } = createCalendar(publication)
    const { days } = await daysOf(bank)
    expect(days.map(({ date }) => date)).toEqual(daysFrom(...bank.range).filter(isPublished))
  })

  it.each(SERVED)(
    'of %s is served by a handler, as history and as latest rates',
    async (_, bank) => {
      const provider = bank.create()
      const { fetch, now } = contextOf(bank)
      const { fetchLatest } = provider
      if (!fetchLatest) throw new Error('the provider has no latest rates')
      const both = { ...provider, fetchLatest }
      const { rates } = createRatesHandler({
        providers: { latest: both, history: both },
        fetch,
        now,
      })
      const { base, days } = await daysOf(bank)
      const newest = days.at(-1)
      const [code = ''] = Object.keys({ ...newest?.rates, ...newest?.prices })
      const [from, to] = newest?.prices?.[code] === undefined ? [base, code] : [code, base]
      const published = newest?.prices?.[code] ?? newest?.rates[code]
      const dated = await rates.convert({ from, to, amount: 1, date: newest?.date ?? '' })
      expect([dated.rate, dated.date]).toEqual([published, newest?.date])
      expect((await rates.convert({ from, to, amount: 1 })).rate).toBe(published)
    },
  )

  it('of the Central Bank of the Republic of Türkiye is dated the working day after the market', async () => {
    const { days } = await daysOf(BANKS['the Central Bank of the Republic of Türkiye'] ?? RUSSIA)
    const deviation = (shift: number): number => {
      const shifted = days.flatMap((day, at) => ({ ...day, date: days[at - shift]?.date ?? '' }))
      return ratiosOf('TRY', shifted).reduce((sum, { ratio }) => sum + Math.abs(ratio - 1), 0)
    }
    expect(deviation(1)).toBeLessThan(deviation(0) / 2)
  })

  it('of a currency of the Bank of Russia is read as another program does, to the digit', async () => {
    const provider = banks.createCbrProvider()
    for (const [id, file] of CBR) {
      const records = elementsOf(textOf(file), 'Record').map((each) => {
        const [units = '', price = ''] = ['Nominal', 'Value'].map(
          (name) => each.getElementsByTagName(name)[0]?.textContent?.replace(',', '.') ?? '',
        )
        const date = fromDayFirst(each.getAttribute('Date') ?? '')
        return [date, Number(new Big(price).div(units).toFixed())]
      })
      const [row] = elementsOf(textOf('cbr/01.xml'), 'Valute').filter(
        (each) => each.getAttribute('ID') === id,
      )
      const code = row?.getElementsByTagName('CharCode')[0]?.textContent
      if (code === undefined || code === null) continue
      const context = contextOf({ ...RUSSIA, fileFor: () => file })
      const range = { code, start: '2026-03-01', end: '2026-03-05' }
      const { days } = (await provider.fetchSeries?.(range, context)) ?? { days: [] }
      expect(days.map(({ date, prices }) => [date, prices?.[code]])).toEqual(records)
      expect(records.length).toBeGreaterThan(2)
    }
    expect(CBR.size).toBeGreaterThan(30)
  })
})
