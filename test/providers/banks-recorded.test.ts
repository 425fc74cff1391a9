import { readFileSync } from 'node:fs'

import Papa from 'papaparse'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryDay, HistoryProvider, ProviderContext } from '../../src/index.ts'
import { createBancaDItaliaProvider } from '../../src/providers/banca-d-italia.ts'
import { createCnbProvider } from '../../src/providers/cnb.ts'
import { createEcbProvider } from '../../src/providers/ecb.ts'
import { createNbpProvider } from '../../src/providers/nbp.ts'
import { createCalendar, daysFrom } from '../../src/rates/calendar.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'
import { expectSameDays } from './days.ts'

const textOf = (name: string): string => readFileSync(recording(`data/${name}`), 'utf8')

const RESPONSES: readonly (readonly [part: string, file: string])[] = [
  ['referenceDate=2026-02-09', 'banks/bdi/01.csv'],
  ['referenceDate=2026-02-10', 'banks/bdi/02.csv'],
  ['/tables/A/', 'banks/nbp/01.json'],
  ['/tables/B/', 'banks/nbp/02.json'],
  ['/daily-year?year=2026', 'banks/cnb/01.json'],
]

/** Returns the recorded rows of a currency in the form of a series, which was not recorded. */
function seriesOf(code: string): string {
  const rows = ['banks/bdi/01.csv', 'banks/bdi/02.csv'].map((file) => {
    const [row = ''] = textOf(file).match(new RegExp(`(?<=^[^,]+,)[^,]+,${code},.*`, 'm')) ?? []
    return row
  })
  return `Currency,ISO Code,UIC Code,Rate,Rate convention,Reference date (CET)\n${rows.join('\n')}\n`
}

/** Responds to the recorded requests, and to the others with 404. */
async function fetchRecorded(input: RequestInfo | URL): Promise<Response> {
  const url = String(input instanceof Request ? input.url : input)
  const [, code] = /dailyTimeSeries.*baseCurrencyIsoCode=([A-Z]{3})/.exec(url) ?? []
  if (code !== undefined) return new Response(seriesOf(code))
  if (url.endsWith('.zip')) {
    return new Response(new Uint8Array(readFileSync(recording('data/ecb/eurofxref-hist.zip'))))
  }
  const [, file] = RESPONSES.find(([part]) => url.includes(part)) ?? []
  return file === undefined ? new Response('', { status: 404 }) : new Response(textOf(file))
}

/** Fetches days on the evening of the last one. */
async function fetchDays(
  provider: HistoryProvider,
  start: string,
  end: string,
): Promise<HistoryDay[]> {
  const { signal } = new AbortController()
  const now = () => Date.parse(`${end}T20:00:00Z`)
  const context: ProviderContext = { fetch: fetchRecorded, signal, now }
  return (await provider.fetchHistory({ start, end }, context)).days
}

const FEBRUARY = ['2026-02-09', '2026-02-10'] as const
const MARCH = ['2026-03-02', '2026-03-05'] as const
const SPRING = ['2026-01-01', '2026-04-02'] as const

/** Reads the tables of Banca d'Italia with another program. */
function independentItalian(file: string): HistoryDay {
  const [table = ''] = textOf(file).split('\n\n')
  const { data } = Papa.parse<Record<string, string>>(table, { header: true })
  const rows = data.filter(({ Rate, 'ISO Code': code }) => Rate !== 'N.A.' && code !== 'EUR')
  expect(new Set(rows.map((row) => row['Rate convention']))).toEqual(
    new Set(['Foreign currency amount for 1 Euro.']),
  )
  const rates = rows.map((row) => [row['ISO Code'], Number(row['Rate'])])
  return { date: data[0]?.['Reference date (CET)'] ?? '', rates: Object.fromEntries(rates) }
}

/** Reads tables of Narodowy Bank Polski without a parser of JSON. */
function independentPolish(file: string): HistoryDay[] {
  const [, ...tables] = textOf(file).split('"no":"')
  return tables.map((table) => {
    const [tableNumber = '', text = ''] = table.split('","effectiveDate":"')
    const quotes = [...text.matchAll(/"code":"([A-Z]{3})","mid":([\d.]+)\}/g)]
    const prices = quotes.map(([, code, price]) => [code, Number(price)])
    return { date: text.slice(0, 10), tableNumber, rates: {}, prices: Object.fromEntries(prices) }
  })
}

/** Moves the decimal point of `text` to the left. */
function shifted(text: string, places: number): number {
  const [whole = '', part = ''] = text.split('.')
  const digits = whole.padStart(places + 1, '0')
  return Number(`${digits.slice(0, digits.length - places)}.${digits.slice(-places)}${part}`)
}

/** Reads a year of Česká národní banka without a parser of JSON and without a division. */
function independentCzech(): HistoryDay[] {
  const row = /"currencyCode":"([A-Z]{3})","amount":(10*),"validFor":"([\d-]+)","rate":([\d.]+)/g
  const days = new Map<string, Record<string, number>>()
  for (const [, code = '', amount = '', date = '', rate = ''] of textOf(
    'banks/cnb/01.json',
  ).matchAll(row)) {
    const prices = days.get(date) ?? {}
    const places = amount.length - 1
    prices[code] = places === 0 ? Number(rate) : shifted(rate, places)
    days.set(date, prices)
  }
  return [...days].map(([date, prices]) => ({ date, rates: {}, prices }))
}

/** Returns the units of each currency for one euro. */
function againstEuro({ rates, prices = {} }: HistoryDay, base: string): Record<string, number> {
  const { EUR: euro = 1 } = prices
  const turned = Object.entries(prices).map(([code, price]) => [code, euro / price])
  return { ...rates, ...Object.fromEntries(turned), ...(base !== 'EUR' && { [base]: euro }) }
}

/** Returns the number of rates on the same days as the European Central Bank's, and those further away than `limit`. */
function compareWithEcb(days: readonly HistoryDay[], base: string, limit: number) {
  const options = { header: true, skipEmptyLines: true }
  const { data } = Papa.parse<Record<string, string>>(textOf('ecb/eurofxref-hist.csv'), options)
  const official = new Map(data.map(({ Date: date, ...cells }) => [date, cells]))
  const compared = days.flatMap((day) => {
    const own = againstEuro(day, base)
    return Object.entries(official.get(day.date) ?? {}).flatMap(([code, rate]) => {
      const move = Math.abs((own[code] ?? NaN) / Number(rate) - 1)
      return Number.isNaN(move) ? [] : [{ at: `${day.date} ${code}`, move }]
    })
  })
  return { count: compared.length, far: compared.filter(({ move }) => move > limit) }
}

describe.skipIf(!HAS_RECORDINGS)(`a recorded response of a bank ${NEEDS_RECORDINGS}`, () => {
  it("is read from Banca d'Italia as another program does, to the digit", async () => {
    const days = await fetchDays(createBancaDItaliaProvider(), ...FEBRUARY)
    expectSameDays(days, ['banks/bdi/01.csv', 'banks/bdi/02.csv'].map(independentItalian))
    const rates = days[0]?.rates ?? {}
    expect(rates).toMatchObject({ USD: 1.1886, BBD: 2.3772, XOF: 655.957, LBP: 106_379.7 })
    expect(Object.keys(rates).length).toBeGreaterThan(140)
    expect(Object.keys(rates)).not.toContain('RUB')
  })

  it('is read from Narodowy Bank Polski as another program does, to the digit', async () => {
    const daily = await fetchDays(createNbpProvider(), ...MARCH)
    expectSameDays(daily, independentPolish('banks/nbp/01.json'))
    expect(daily.map(({ prices }) => Object.keys(prices ?? {}).length)).toEqual([32, 32, 32, 32])
    expect(daily[0]?.prices).toMatchObject({ EUR: 4.2304, IDR: 0.00021385 })
    const weekly = await fetchDays(createNbpProvider({ table: 'B' }), ...MARCH)
    expectSameDays(weekly, independentPolish('banks/nbp/02.json'))
    expect(weekly.map(({ date }) => date)).toEqual(['2026-03-04'])
  })

  it('is read from Česká národní banka as another program does, to the digit', async () => {
    const days = await fetchDays(createCnbProvider(), ...SPRING)
    expectSameDays(days, independentCzech())
    expect(days).toHaveLength(65)
    expect(days[0]?.prices).toMatchObject({ EUR: 24.17, HUF: 0.06304, IDR: 0.001233 })
  })

  it('is near the rates of the European Central Bank, on every day', async () => {
    const italian = await fetchDays(createBancaDItaliaProvider(), ...FEBRUARY)
    expect(compareWithEcb(italian, 'EUR', 0)).toEqual({ count: 58, far: [] })
    const czech = await fetchDays(createCnbProvider(), ...SPRING)
    // All but one rupiah, which has four digits, by less than 0.5 %.
    expect(compareWithEcb(czech, 'CZK', 0.006)).toEqual({ count: 1_885, far: [] })
    // Published three hours earlier.
    const polish = await fetchDays(createNbpProvider(), ...MARCH)
    expect(compareWithEcb(polish, 'PLN', 0.015)).toEqual({ count: 116, far: [] })
    const { far } = compareWithEcb(polish, 'PLN', 0.005)
    expect(new Set(far.map(({ at }) => at.slice(11)))).toEqual(
      new Set(['BRL', 'CHF', 'HUF', 'RON', 'ZAR']),
    )
  })

  it('has the days of the calendar', async () => {
    const providers: [HistoryProvider, readonly [start: string, end: string]][] = [
      [createCnbProvider(), SPRING],
      [createNbpProvider(), MARCH],
      [createNbpProvider({ table: 'B' }), MARCH],
    ]
    for (const [provider, [start, end]] of providers) {
      if (!provider.publication) throw new Error('the provider declares no publication')
      const { isPublished } = createCalendar(provider.publication)
      const days = await fetchDays(provider, start, end)
      expect(days.map(({ date }) => date)).toEqual(daysFrom(start, end).filter(isPublished))
    }
  })

  it('is served by a handler, with its digits and its source', async () => {
    const { rates } = createRatesHandler({
      providers: { history: [createEcbProvider(), createBancaDItaliaProvider()] },
      fetch: fetchRecorded,
      now: () => Date.parse('2026-02-10T20:00:00Z'),
    })
    const francs = await rates.convert({ from: 'EUR', to: 'XOF', amount: 2, date: '2026-02-10' })
    expect(francs).toMatchObject({ rate: 655.957, result: 1311.914, date: '2026-02-10' })
    expect(francs.source.name).toBe("Banca d'Italia (indicative cross rates)")
    const dollars = await rates.convert({ from: 'EUR', to: 'USD', amount: 1, date: '2026-02-10' })
    expect(dollars.source.name).toBe('European Central Bank')
  })
})
