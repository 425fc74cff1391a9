import { afterEach, describe, expect, it, vi } from 'vitest'

import { createRates } from '../../src/index.ts'
import type { HistoryProvider } from '../../src/index.ts'
import { createBancaDItaliaProvider } from '../../src/providers/banks/banca-d-italia.ts'
import { createBcbProvider } from '../../src/providers/banks/bcb.ts'
import { createCnbProvider } from '../../src/providers/banks/cnb.ts'
import { createHmrcProvider } from '../../src/providers/banks/hmrc.ts'
import { createImfProvider } from '../../src/providers/banks/imf.ts'
import { createNbpProvider } from '../../src/providers/banks/nbp.ts'
import { createNbuProvider } from '../../src/providers/banks/nbu.ts'
import { createTcmbProvider } from '../../src/providers/banks/tcmb.ts'
import { createUsTreasuryProvider } from '../../src/providers/banks/us-treasury.ts'
import { daysFrom } from '../../src/rates/calendar.ts'
import { providerContract } from '../../src/testing/index.ts'
import { dayFirst } from '../fixtures/bank-feed.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { answerOfBancaDItalia } from '../fixtures/feeds/banca-d-italia.ts'
import { answerOfCnb } from '../fixtures/feeds/cnb.ts'
import { TABLE_B, answerOfNbp } from '../fixtures/feeds/nbp.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { failuresOf } from '../testing/virtual-time.ts'
import { NOW, manyRates, upstream } from './upstream.ts'
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

/** Serves the rates of banks, whose upstream is `respond`, at `now`. */
function served(
  history: HistoryProvider[],
  now: string,
  respond: (url: URL) => Response,
): ReturnType<typeof createRates> {
  return createRates({
    providers: { latest: false, history },
    fetch: async (input) => respond(new URL(input instanceof Request ? input.url : input)),
    now: () => Date.parse(now),
  })
}

describe('a rate of Friday of the National Bank of Ukraine', () => {
  const PRICES = [43.1, 43.2, 43.3, 43.4, 43.5, 43.5, 43.5, 44]
  const rates = served([createNbuProvider()], '2026-03-16T09:00:00Z', ({ searchParams }) => {
    const rows = daysFrom('2026-03-09', '2026-03-16').map((day, at) => {
      return { exchangedate: dayFirst(day, '.'), cc: 'USD', rate: PRICES[at], units: 1, day }
    })
    const start = (searchParams.get('start') ?? '').replace(/(....)(..)(..)/, '$1-$2-$3')
    return Response.json(rows.filter(({ day }) => day >= start))
  })
  const pair = { from: 'USD', to: 'UAH' } as const

  it('is that of the business day before Monday, and of weekends', async () => {
    const monday = { date: '2026-03-16', rule: 'previous-business-day' } as const
    for (const day of [monday, { date: '2026-03-15' }]) {
      const { date, rate, updatedAt } = await rates.convert({ ...pair, amount: 1, ...day })
      expect([date, rate, updatedAt]).toEqual(['2026-03-13', 43.5, Date.UTC(2026, 2, 12, 14)])
    }
  })

  it('counts once in an average', async () => {
    const week = { start: '2026-03-09', end: '2026-03-15', interval: 'week' } as const
    const { points } = await rates.history({ ...pair, ...week, value: 'average' })
    expect(points.map(({ r }) => r)).toEqual([43.3])
  })
})

describe('an amendment of the US Treasury', () => {
  const rows = rowsOf(
    '2026-03-31 2026-03-31 Japan-Yen 159.41 | 2026-03-31 2026-03-31 Israel-Shekel 3.1 | 2026-03-31 2026-05-29 Israel-Shekel 2.807 | 2026-06-30 2026-06-30 Japan-Yen 150.01 | 2026-06-30 2026-06-30 Israel-Shekel 2.9',
  )
  const data = rows.map(([record_date, effective_date, country_currency_desc, exchange_rate]) => {
    return { record_date, effective_date, country_currency_desc, exchange_rate }
  })
  const rates = served([createUsTreasuryProvider()], '2026-07-20T09:00:00Z', ({ href }) => {
    const [, start = ''] = /gte:([\d-]+)/.exec(href) ?? []
    return Response.json({ data: data.filter(({ record_date = '' }) => record_date >= start) })
  })

  it('is a rate of its currency alone', async () => {
    const quarter = { start: '2026-04-01', end: '2026-06-30', interval: 'quarter' } as const
    const yen = await rates.history({ from: 'USD', to: 'JPY', ...quarter, value: 'average' })
    expect(yen.points.map(({ r }) => r)).toEqual([150.01])
    const table = await rates.latest({ base: 'USD', date: '2026-06-01' })
    expect([table.date, table.rates]).toEqual(['2026-05-29', { ILS: 2.807, JPY: 159.41, USD: 1 }])
    const cross = { from: 'ILS', to: 'JPY', amount: 1 } as const
    const day = { date: '2026-05-29', rule: 'exact' } as const
    const updatedAt = Date.parse('2026-04-10T20:00:00Z')
    expect(await rates.convert({ ...cross, ...day })).toMatchObject({
      rate: 56.79016744,
      updatedAt,
    })
    await expect(rates.convert({ ...cross, from: 'USD', ...day })).rejects.toThrow('No reference')
    expect(table.older).toEqual({ JPY: Date.parse('2026-04-10T20:00:00Z') })
  })
})

describe('latest rates of the International Monetary Fund', () => {
  it('may lack currencies of the previous table', async () => {
    const respond = FEEDS['createImfProvider()']?.respond
    const { context } = upstream([(url) => respond?.(url, NOW) ?? Response.error()])
    const imf = createImfProvider()
    const table = await imf.fetchLatest(context)
    const previous = { ...table, rates: { ...table.rates, ...manyRates() } }
    expect(await imf.fetchLatest({ ...context, previous })).toEqual(table)
    // The days of its history, too.
    expect(imf.sanityChecks).toBe('rates')
  })
})

describe('createHmrcProvider()', () => {
  const HEADER =
    'Country/Territories,Currency,Currency Code,Currency Units per £1,Start date,End date'

  /** Has the files up to December 2023 at addresses that begin with `api`, without that of a month. */
  const open = (api: string, missing?: string) =>
    served([createHmrcProvider()], '2024-01-05T09:00:00Z', ({ pathname }) => {
      const [, year = '', number = ''] = /_csv_(\d{4})-(\d+)\.csv$/.exec(pathname) ?? []
      const month = `${number.padStart(2, '0')}/${year}`
      if (!pathname.startsWith(api) || month === missing || year === '2024') {
        return new Response('', { status: 404 })
      }
      const rows = [
        `U,D,USD,1.2643,01/${month},28/${month}`,
        `A,P,ARS,438.1,01/${month},12/${month}`,
      ]
      if (month === '12/2023') rows.push('A,P,ARS,1017.5,13/12/2023,31/12/2023')
      return new Response(`${[HEADER, ...rows].join('\n')}\n`)
    })
  const peso = { from: 'GBP', to: 'ARS', amount: 1 } as const

  it.each(['/uk/api', '/api/v2'])('has corrected rates of a month from %s', async (api) => {
    const { convert, history, latest, status } = open(api)
    // The file of January is not there yet.
    for (const date of ['2023-12-20', '2024-01-05']) {
      const corrected = { date: '2023-12-13', rate: 1017.5 / 1.2643 }
      const dollar = await convert({ ...peso, from: 'USD', date })
      expect(dollar).toMatchObject({ ...corrected, rate: expect.closeTo(corrected.rate, 6) })
      expect(await convert({ ...peso, date })).toMatchObject({ ...corrected, rate: 1017.5 })
    }
    const { points } = await history({ from: 'USD', to: 'ARS', start: '2023-11-01' })
    expect(points.map(({ d }) => d)).toEqual(['2023-11-01', '2023-12-01', '2023-12-13'])
    const before = await convert({ ...peso, date: '2023-12-12' })
    expect(before).toMatchObject({ date: '2023-12-01', rate: 438.1 })
    const table = await latest({ base: 'GBP', date: '2023-12-20' })
    expect(table.rates).toMatchObject({ ARS: 1017.5, USD: 1.2643 })
    expect(table.older).toEqual({ USD: Date.parse('2023-12-01') })
    expect((await status()).history).toMatchObject({ lastDay: '2023-12-13', stale: true })
  })

  it('has no rates of another month where the file of a month is missing', async () => {
    const { convert } = open('/uk/api', '11/2023')
    const before = convert({ ...peso, date: '2023-11-20' })
    await expect(before).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('requests a file with and without a zero', async () => {
    const { context, requests } = upstream([() => new Response('', { status: 404 })])
    const march = { start: '2026-03-01', end: '2026-03-31' }
    await expect(createHmrcProvider().fetchHistory(march, context)).rejects.toThrow('HTTP 404')
    const files = requests.map(({ url }) => url.replace(/^.*\.uk(\/\w+\/\w+\/).*_/, '$1'))
    const names = ['2026-3.csv', '2026-03.csv']
    expect(files).toEqual(names.flatMap((name) => [`/uk/api/${name}`, `/api/v2/${name}`]))
  })
})

describe('a side', () => {
  const SIDES = ['buying', 'selling', undefined] as const

  it.each([
    ['bcb-buying', 5.1, 'buying'],
    ['bcb-selling', 5.3, 'selling'],
    ['bcb', 5.2, 'middle of buying and selling'],
  ])('of PTAX is the source %s', async (source, rate, name) => {
    const history = SIDES.map((side) => ({ ...createBcbProvider({ side }), sanityChecks: false }))
    const value = {
      cotacaoCompra: 5.1,
      cotacaoVenda: 5.3,
      tipoBoletim: 'Fechamento',
      dataHoraCotacao: '2026-03-16 13:09:26.433',
    }
    const rates = served(history, '2026-03-16T20:00:00Z', ({ href }) =>
      Response.json({ value: href.includes('Cotacao=%2703-16-2026') ? [value] : [] }),
    )
    const day = { date: '2026-03-16', source } as const
    const found = await rates.convert({ from: 'USD', to: 'BRL', amount: 1, ...day })
    const attribution = { name: `Banco Central do Brasil, PTAX (${name} rates)` }
    expect(found).toMatchObject({ rate, source: attribution })
  })

  it('of TCMB is a source, and the rates of tomorrow are requested in the afternoon', async () => {
    const now = Date.parse('2026-03-16T12:30:00Z')
    const respond = FEEDS['createTcmbProvider()']?.respond
    const market = upstream([(url) => respond?.(url, now) ?? Response.error()])
    const provider = createTcmbProvider({ key: 'k', side: 'buying' })
    const table = await provider.fetchLatest({ ...market.context, now: () => now })
    expect([table.updatedAt, provider.publication?.id]).toEqual([now, 'tcmb-buying'])
    expect(provider.attribution.name).toMatch(/ \(buying rates\)$/)
    expect(urlsOf(market)).toEqual([expect.stringContaining('&endDate=17-03-2026&')])
  })

  it('is one of three', () => {
    // @ts-expect-error another side
    expect(() => createBcbProvider({ side: 'ask' })).toThrow(
      /^side must be one of buying, selling, middle, got ask$/,
    )
    // @ts-expect-error a bank that publishes middle rates only
    expect(() => createNbuProvider({ side: 'buying' })).toThrow(/^unknown option "side"/)
  })
})
