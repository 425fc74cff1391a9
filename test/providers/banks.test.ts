import { afterEach, describe, expect, it, vi } from 'vitest'

import type { HistoryDay, HistoryProvider } from '../../src/index.ts'
import { createBancaDItaliaProvider } from '../../src/providers/banks/banca-d-italia.ts'
import { createCnbProvider } from '../../src/providers/banks/cnb.ts'
import { createNbpProvider } from '../../src/providers/banks/nbp.ts'
import { createCalendar, daysFrom } from '../../src/rates/calendar.ts'
import { isTargetDay } from '../../src/rates/dates.ts'
import { providerContract } from '../../src/testing/index.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import {
  answerOfBancaDItalia,
  italianDay,
  italianRow,
  italianSeries,
  italianTable,
} from '../fixtures/feeds/banca-d-italia.ts'
import { answerOfCnb, cnbRow } from '../fixtures/feeds/cnb.ts'
import { TABLE_B, answerOfNbp, nbpTables } from '../fixtures/feeds/nbp.ts'
import { failuresOf } from '../testing/virtual-time.ts'
import { NOW, upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

afterEach(() => {
  vi.useRealTimers()
})

const TODAY = '2026-11-20'

type Range = { start: string; end: string }

const onDay = (day: string): Range => ({ start: day, end: day })

/** Creates an upstream that responds like `respond`, and records its requests. */
function serving(respond: (url: string, now: number) => Response): Upstream {
  const market = upstream([() => respond(market.requests.at(-1)?.url ?? '', NOW)])
  return market
}

async function rejectedBy(signal?: AbortSignal | null): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('aborted')))
  })
}

const urlsOf = ({ requests }: Upstream): string[] => requests.map(({ url }) => url)

async function daysOf(
  provider: HistoryProvider,
  range: Range,
  body: string | object,
  init?: ResponseInit,
): Promise<HistoryDay[]> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const { context } = upstream([() => new Response(text, init)])
  return (await provider.fetchHistory(range, context)).days
}

function isPublishedBy({ publication }: HistoryProvider): (day: string) => boolean {
  if (!publication) throw new Error('the provider declares no publication')
  return createCalendar(publication).isPublished
}

const banks = createBancaDItaliaProvider()

const USD = italianRow('USD', '1.15')

describe('createBancaDItaliaProvider()', () => {
  const read = async (rows: string[], notes?: string): Promise<HistoryDay[]> =>
    daysOf(banks, onDay(TODAY), italianTable(rows, notes))

  it('fetches one working day after another, until today', async () => {
    const market = serving(answerOfBancaDItalia)
    const range = { start: '2026-11-13', end: '2026-11-30' }
    const { days } = await banks.fetchHistory(range, market.context)
    const dates = ['13', '16', '17', '18', '19', '20'].map((day) => `2026-11-${day}`)
    expect(days.map(({ date }) => date)).toEqual(dates)
    expect(urlsOf(market).map((url) => new URL(url).searchParams.get('referenceDate'))).toEqual(
      dates,
    )
  })

  it('has the rate of a currency of several countries once, with its digits', async () => {
    const rows = [
      USD,
      italianRow('XOF', '655.957', { country: '"CONGO, Republic of"' }),
      italianRow('XOF', '655.9570', { country: 'MALI' }),
      italianRow('EUR', '1'),
      italianRow('', '3'),
      italianRow('BYN', 'N.A.'),
      italianRow('KPW', '0'),
    ]
    expect(await read(rows)).toEqual([{ date: TODAY, rates: { USD: 1.15, XOF: 655.957 } }])
  })

  it('accepts CRLF, a byte order mark, other columns and no notes', async () => {
    const table = [
      '\u{FEFF}Rate,Reference date (CET),New,ISO Code,Rate convention',
      `1.15,${TODAY},x,USD,Foreign currency amount for 1 Euro `,
      '',
    ]
    const days = await daysOf(banks, onDay(TODAY), table.join('\r\n'))
    expect(days).toEqual([{ date: TODAY, rates: { USD: 1.15 } }])
  })

  it('keeps the direction of each row', async () => {
    const price = italianRow('GBP', '1.1494').replace(/Foreign.*Euro/, 'Euro amount for 1 unit')
    const priced = { date: TODAY, rates: { USD: 1.15 }, prices: { GBP: 1.1494 } }
    expect(await read([USD, price])).toEqual([priced])
    await expect(read([USD, italianRow('GBP', '0.87'), price])).rejects.toThrow(
      /quote 3 has another direction$/,
    )
    const odd = italianRow('GBP', '1.1494').replace(/Foreign.*Euro/, 'Something for 1 Euro')
    await expect(read([USD, odd])).rejects.toThrow(/line 3 .*convention$/)
  })

  it('has NaN for rates that cannot be read, and for two of one code', async () => {
    const rows = [
      USD,
      italianRow('AED', '4,36'),
      italianRow('ALL', '-96.7'),
      italianRow('AMD', '1e3'),
      italianRow('XOF', '655.957'),
      italianRow('XOF', '655.958'),
      'MALI,Franc,XAF,655.957',
      `KOREA, Republic of,Won,KRW,119,1737.79,Foreign currency amount for 1 Euro.,${TODAY}`,
    ]
    const nan = { AED: NaN, ALL: NaN, AMD: NaN, XAF: NaN, XOF: NaN, 'line 9': NaN }
    expect(await read(rows)).toEqual([{ date: TODAY, rates: { USD: 1.15, ...nan } }])
  })

  it.each([
    ['AFN', '2004-03-31', false],
    ['AFN', '2004-04-01', true],
    ['ZWD', '2008-07-31', true],
    ['ZWD', '2008-08-01', false],
  ])('omits rates that are of another currency: %s on %s', async (code, date, isIn) => {
    const rows = [italianRow('USD', '1.2', { date }), italianRow(code, '58.5', { date })]
    const [day] = await daysOf(banks, onDay(date), italianTable(rows))
    expect(Object.keys(day?.rates ?? {}).includes(code)).toBe(isIn)
  })

  it('has no day where the table has no rows', async () => {
    const header = italianTable([], '')
    for (const text of [header, header.trim(), italianTable([])]) {
      expect(await daysOf(banks, onDay(TODAY), text)).toEqual([])
    }
  })

  const whole = italianDay(TODAY, NOW)

  it.each([
    [
      'of another day',
      italianDay('2026-11-19', NOW),
      /quote 1 is of 2026-11-19, expected 2026-11-20 to 2026-11-20$/,
    ],
    ['cut in a row', whole.slice(0, whole.indexOf('#') - 90), /invalid date/],
    ['cut in a date', whole.slice(0, whole.indexOf('#') - 4), /invalid date/],
    ['cut before its last line end', whole.slice(0, whole.indexOf('#') - 3), /truncated$/],
    ['cut after a row', italianTable([italianRow('AED', '4.36')]), /no USD; it is truncated$/],
    [
      'without a column',
      whole.replace('Rate convention', 'Convention'),
      /missing column Rate conv/,
    ],
    [
      'an HTML page',
      '<!doctype html><p class="x">Back soon, 1 EUR = 1.1 USD',
      /quote|missing column/,
    ],
    ['empty', '', /missing column/],
    ['of a day that is none', whole.replaceAll(TODAY, '2026-11-31'), /invalid date/],
  ])('rejects a response %s', async (_what, text, message) => {
    await expect(daysOf(banks, onDay(TODAY), text)).rejects.toThrow(message)
  })

  it('has the days of the TARGET system', () => {
    const isPublished = isPublishedBy(banks)
    const different = daysFrom('1999-01-04', '2030-12-31').filter((day) => {
      return isPublished(day) !== isTargetDay(day)
    })
    expect(different).toEqual([])
  })
})

describe('fetchSeries() of createBancaDItaliaProvider()', () => {
  const SERIES = { code: 'XOF', start: '2026-11-02', end: TODAY }

  async function read(text: string): Promise<HistoryDay[] | undefined> {
    const { context } = upstream([new Response(text)])
    return (await banks.fetchSeries?.(SERIES, context))?.days
  }

  it('has all days of the currency by one request', async () => {
    const market = serving(answerOfBancaDItalia)
    const series = await banks.fetchSeries?.(SERIES, market.context)
    expect(urlsOf(market)).toEqual([
      'https://tassidicambio.bancaditalia.it/terzevalute-wf-web/rest/v1.0/dailyTimeSeries?startDate=2026-11-02&endDate=2026-11-20&baseCurrencyIsoCode=XOF&currencyIsoCode=EUR&lang=en',
    ])
    expect(series?.days).toHaveLength(15)
    expect(series?.days.at(-1)).toEqual({ date: TODAY, rates: { XOF: 655.957 } })
  })

  it('is in ascending order, without other days, and with countries', async () => {
    const rows = ['20', '19', '21', '19'].map((day) =>
      italianRow('XOF', '655.957', { country: 'MALI', date: `2026-11-${day}` }),
    )
    const days = ['2026-11-19', TODAY].map((date) => ({ date, rates: { XOF: 655.957 } }))
    expect(await read(italianTable(rows))).toEqual(days)
  })

  it('is empty for a currency without rates', async () => {
    expect(await read(italianTable([]))).toEqual([])
    expect(await read(italianTable([italianRow('XOF', 'N.A.')]))).toEqual([])
  })

  const whole = italianSeries('XOF', SERIES.start, TODAY, NOW)

  it.each([
    ['of another currency', italianSeries('USD', SERIES.start, TODAY, NOW), /another currency$/],
    ['cut in a row', whole.slice(0, 700), /cells$|invalid date/],
    ['cut before a line end', whole.slice(0, whole.indexOf('\n#') - 2), /truncated$/],
  ])('rejects a response %s', async (_what, text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })
})

describe('createNbpProvider()', () => {
  const poland = createNbpProvider()
  const tables = nbpTables('A', '2026-11-19', TODAY, NOW)
  const RANGE = { start: '2026-11-19', end: TODAY }

  it('fetches at most 93 days at once, one after another, since 2002 and until today', async () => {
    const market = serving(answerOfNbp)
    const { base, days } = await poland.fetchHistory(
      { start: '2026-07-01', end: '2026-12-31' },
      market.context,
    )
    const tablesOf = urlsOf(market).filter((url) => url.includes('/tables/'))
    expect(tablesOf.map((url) => url.slice(-36))).toEqual(
      ['/2026-07-01/2026-10-01/?format=json', '/2026-10-02/2026-11-20/?format=json'].map((path) =>
        path.padStart(36, 'A'),
      ),
    )
    expect([base, days.at(-1)?.date]).toEqual(['PLN', TODAY])
    expect(new Set(days.map(({ date }) => date)).size).toBe(days.length)
    const past = { start: '1999-01-04', end: '2002-01-01' }
    expect((await poland.fetchHistory(past, market.context)).days).toEqual([])
    expect(market.requests).toHaveLength(4)
  })

  it('has gold by the troy ounce, since 2013, on the days of the table', async () => {
    const market = serving(answerOfNbp)
    const { days } = await poland.fetchHistory(
      { start: '2012-12-28', end: '2013-01-04' },
      market.context,
    )
    expect(urlsOf(market)[1]).toMatch(/\/api\/cenyzlota\/2013-01-02\/2013-01-04\/\?format=json$/)
    const gold = days.map(({ date, prices }) => [date, prices?.['XAU']])
    // 493.13 × 31.1034768
    expect(gold).toEqual([
      ['2012-12-28', undefined],
      ['2012-12-31', undefined],
      ['2013-01-02', 15338.057514384],
      ['2013-01-03', 15338.057514384],
      ['2013-01-04', 15338.057514384],
    ])
  })

  it.each<[what: string, respond: (signal?: AbortSignal | null) => Response | Promise<Response>]>([
    ['fails', () => new Response('', { status: 503 })],
    ['has another format', () => new Response('<p>')],
    ['does not respond', async (signal) => rejectedBy(signal)],
    ['is of other days', () => Response.json([{ data: '2026-11-21', cena: 500 }])],
  ])('has the currencies where the request for gold %s', async (_what, respond) => {
    const fetch = vi.fn<typeof globalThis.fetch>(async (input, init) => {
      const url = String(input instanceof Request ? input.url : input)
      return url.includes('cenyzlota') ? respond(init?.signal) : answerOfNbp(url, NOW)
    })
    const { days } = await poland.fetchHistory(RANGE, { ...upstream([]).context, fetch })
    expect(fetch).toHaveBeenCalledTimes(2)
    expect(days.map(({ date }) => date)).toEqual(['2026-11-19', TODAY])
    expect(days[0]?.prices).toMatchObject({ EUR: expect.any(Number) })
    expect(days[0]?.prices).not.toHaveProperty('XAU')
  })

  it('has prices in zloty, with their digits', async () => {
    const [day] = await daysOf(poland, RANGE, tables)
    const [first] = tables[0]?.rates ?? []
    expect(day?.rates).toEqual({})
    expect(day?.prices?.[first?.code ?? '']).toBe(first?.mid)
    expect(day?.prices).not.toHaveProperty('PLN')
  })

  it('has no days where the bank says so, of ten days at most', async () => {
    const closed = '404 NotFound - Not Found - Brak danych'
    const read = (range: Range, text = closed, status = 404): Promise<HistoryDay[]> =>
      daysOf(poland, range, text, { status })
    expect(await read({ start: '2026-11-11', end: TODAY })).toEqual([])
    await expect(read({ start: '2026-11-10', end: TODAY })).rejects.toThrow(/HTTP 404$/)
    await expect(read(RANGE, '<h1>404 Not Found</h1>')).rejects.toThrow(/HTTP 404$/)
    await expect(read(RANGE, closed, 400)).rejects.toThrow(/HTTP 400$/)
  })

  const [one, other] = tables

  it.each([
    ['no tables', [], /no tables$/],
    ['text', '404 NotFound - Not Found - Brak danych', /invalid JSON$/],
    ['the other table', nbpTables('B', '2026-11-18', '2026-11-18', NOW), /an unexpected table$/],
    [
      'a table of another day',
      nbpTables('A', '2026-11-18', TODAY, NOW),
      /quote 1 is of 2026-11-18, expected/,
    ],
    ['a table twice', [one, one], /two tables of a day$/],
    ['a table without a day', [{ ...one, effectiveDate: '2026-11-31' }], /an invalid date$/],
    ['a table without rates', [one, { ...other, rates: [] }], /an unexpected table$/],
  ])('rejects %s', async (_what, body, message) => {
    await expect(daysOf(poland, RANGE, body)).rejects.toThrow(message)
  })

  it('omits rates of table B that are of another currency', async () => {
    const rates = ['AFA', 'AON', 'BYB', 'ZWR', 'AED'].map((code) => ({ code, mid: 1 }))
    const read = async (date: string): Promise<string[]> => {
      const table = [{ table: 'B', no: '1', effectiveDate: date, rates }]
      const [day] = await daysOf(createNbpProvider({ table: 'B' }), onDay(date), table)
      return Object.keys(day?.prices ?? {})
    }
    expect(await read('2002-12-24')).toEqual(['AFA', 'ZWR', 'AED'])
    expect(await read('2009-02-25')).toEqual(['AED'])
  })

  it('throws for another table', () => {
    // @ts-expect-error a table with other rates
    expect(() => createNbpProvider({ table: 'C' })).toThrow(/^table must be A or B, got C$/)
  })

  it.each(
    providerContract({
      history: () => createNbpProvider({ table: 'B' }),
      fetch: ({ url }) => TABLE_B.respond?.(url, NOW) ?? Response.error(),
      now: () => NOW,
    }),
  )('table B: $name', async (each) => {
    expect(await failuresOf([each])).toEqual(new Map())
  })
})

describe('createCnbProvider()', () => {
  const czechia = createCnbProvider()

  it('fetches each year that the range touches, since 1999 and until today', async () => {
    const market = serving(answerOfCnb)
    const { base, days } = await czechia.fetchHistory(
      { start: '2025-12-22', end: '2027-01-05' },
      market.context,
    )
    expect(urlsOf(market)).toEqual(
      ['2025', '2026'].map((year) => {
        return `https://api.cnb.cz/cnbapi/exrates/daily-year?year=${year}&lang=EN`
      }),
    )
    expect([base, days[0]?.date, days.at(-1)?.date]).toEqual(['CZK', '2025-12-22', TODAY])
    const past = { start: '1991-01-01', end: '1999-01-03' }
    expect((await czechia.fetchHistory(past, market.context)).days).toEqual([])
    expect(market.requests).toHaveLength(2)
  })

  const read = async (...rows: object[]): Promise<Record<string, number> | undefined> => {
    const [day] = await daysOf(czechia, onDay(TODAY), { rates: rows })
    return day?.prices
  }

  it('divides exactly, and has NaN for rates that cannot be read or are two of one code', async () => {
    const row = cnbRow('USD', 20.9, TODAY)
    const nan = { EUR: NaN, GBP: NaN, JPY: NaN, SEK: NaN, XDR: NaN }
    expect(
      await read(
        row,
        row,
        { ...row, currencyCode: 'HUF', rate: 6.304, amount: 100 },
        { ...row, currencyCode: 'EUR', rate: '24,17' },
        { ...row, currencyCode: 'GBP', amount: 0 },
        { ...row, currencyCode: 'JPY', amount: 0.5 },
        { ...row, currencyCode: 'SEK', rate: -1 },
        { ...row, currencyCode: 'XDR', rate: 28.6 },
        { ...row, currencyCode: 'XDR', rate: 28.7 },
        { ...row, currencyCode: 'CZK' },
        { ...row, currencyCode: 'usd' },
      ),
    ).toEqual({ USD: 20.9, HUF: 0.06304, usd: 20.9, ...nan })
  })

  it('has no days at the beginning of a year, and rejects a year without rates', async () => {
    const january = { start: '2026-01-01', end: '2026-01-10' }
    expect(await daysOf(czechia, january, { rates: [] })).toEqual([])
    const later = daysOf(czechia, { ...january, end: '2026-01-11' }, { rates: [] })
    await expect(later).rejects.toThrow(/no rates from 2026-01-01 to 2026-01-11$/)
  })
})

describe('a bank that publishes a number of units with every price', () => {
  it.each([
    ['createCnbProvider()', /"amount":1(00)?\b/, '"amount":null'],
    ['createCnbProvider()', /,"amount":1(00)?\b/, ''],
    ['createNbuProvider()', /,"units":\d+/, ''],
    ['createMnbProvider()', / unit="\d+"/, ''],
    ['createCbrProvider()', /<Nominal>\d+<\/Nominal>/, ''],
    ['createNorgesBankProvider()', /,NOK,SP,4,false,\d/, ',NOK,SP,4,false,'],
    ['createNorgesBankProvider()', /,UNIT_MULT/, ',OTHER'],
    ['createBankOfIsraelProvider()', /,OF00,\d/, ',OF00,'],
  ])('has no rates from a response of %s with %s as %j', async (name, unit, without) => {
    const { [name]: feed } = FEEDS
    const { fetchHistory } = feed?.create() ?? {}
    const good = feed?.body(NOW)
    const text = typeof good === 'string' ? good : JSON.stringify(good)
    expect(text).toMatch(unit)
    const { context } = upstream([new Response(text.replace(unit, without))])
    const read = fetchHistory?.(feed?.range ?? { start: '2026-11-06', end: TODAY }, context)
    await expect(read).rejects.toThrow(/unexpected format: quote \d+ has no number of units$/)
  })
})
