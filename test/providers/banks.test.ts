import { afterEach, describe, expect, it, vi } from 'vitest'

import type { HistoryProvider } from '../../src/index.ts'
import { createBancaDItaliaProvider } from '../../src/providers/banks/banca-d-italia.ts'
import { createCnbProvider } from '../../src/providers/banks/cnb.ts'
import { createNbpProvider } from '../../src/providers/banks/nbp.ts'
import { createCalendar, daysFrom } from '../../src/rates/calendar.ts'
import { isTargetDay } from '../../src/rates/dates.ts'
import { providerContract } from '../../src/testing/index.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { answerOfBancaDItalia } from '../fixtures/feeds/banca-d-italia.ts'
import { answerOfCnb } from '../fixtures/feeds/cnb.ts'
import { TABLE_B, answerOfNbp } from '../fixtures/feeds/nbp.ts'
import { failuresOf } from '../testing/virtual-time.ts'
import { NOW, upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

afterEach(() => {
  vi.useRealTimers()
})

const TODAY = '2026-11-20'

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

function isPublishedBy({ publication }: HistoryProvider): (day: string) => boolean {
  if (!publication) throw new Error('the provider declares no publication')
  return createCalendar(publication).isPublished
}

const banks = createBancaDItaliaProvider()

describe('createBancaDItaliaProvider()', () => {
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

  it('has all days of the currency by one request', async () => {
    const market = serving(answerOfBancaDItalia)
    const series = await banks.fetchSeries?.(SERIES, market.context)
    expect(urlsOf(market)).toEqual([
      'https://tassidicambio.bancaditalia.it/terzevalute-wf-web/rest/v1.0/dailyTimeSeries?startDate=2026-11-02&endDate=2026-11-20&baseCurrencyIsoCode=XOF&currencyIsoCode=EUR&lang=en',
    ])
    expect(series?.days).toHaveLength(15)
    expect(series?.days.at(-1)).toEqual({ date: TODAY, rates: { XOF: 655.957 } })
  })
})

describe('createNbpProvider()', () => {
  const poland = createNbpProvider()
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
