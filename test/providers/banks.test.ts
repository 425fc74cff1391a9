import { describe, expect, it, vi } from 'vitest'

import { createRates } from '../../src/index.ts'
import type { HistoryProvider } from '../../src/index.ts'
import * as providers from '../../src/providers/index.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { NOW, manyRates, upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

const TODAY = '2026-11-20'
const GONE = (): Response => new Response('', { status: 404 })

/** Returns the response of the feed of a factory. */
function answerOf(name: string, url: string, now = NOW): Response {
  return FEEDS[`create${name}Provider()`]?.respond?.(url, now) ?? Response.error()
}

/** Creates the upstream of a factory, which records its requests. */
const serving = (name: string): Upstream => upstream([(url) => answerOf(name, url)])

const ITALY = 'https://tassidicambio.bancaditalia.it/terzevalute-wf-web/rest/v1.0'
const POLAND = 'https://api.nbp.pl/api'
const CZECHIA = 'https://api.cnb.cz/cnbapi/exrates/daily-year?year='

describe('the requests for a range', () => {
  it.each<[name: string, start: string, end: string, urls: string[]]>([
    // One working day after another, until today.
    [
      'BancaDItalia',
      '2026-11-13',
      '2026-11-30',
      ['13', '16', '17', '18', '19', '20'].map(
        (day) => `${ITALY}/dailyRates?referenceDate=2026-11-${day}&currencyIsoCode=EUR&lang=en`,
      ),
    ],
    // At most 93 days at once, and gold of the same.
    [
      'Nbp',
      '2026-07-01',
      '2026-12-31',
      ['2026-07-01/2026-10-01', '2026-10-02/2026-11-20'].flatMap((days) => [
        `${POLAND}/exchangerates/tables/A/${days}/?format=json`,
        `${POLAND}/cenyzlota/${days}/?format=json`,
      ]),
    ],
    // Gold since 2013.
    [
      'Nbp',
      '2012-12-28',
      '2013-01-04',
      ['exchangerates/tables/A/2012-12-28', 'cenyzlota/2013-01-02'].map(
        (path) => `${POLAND}/${path}/2013-01-04/?format=json`,
      ),
    ],
    ['Nbp', '1999-01-04', '2002-01-01', []],
    // Each year that the range touches.
    [
      'Cnb',
      '2025-12-22',
      '2027-01-05',
      ['2025', '2026'].map((year) => `${CZECHIA}${year}&lang=EN`),
    ],
    ['Cnb', '1991-01-01', '1999-01-03', []],
  ])('of %s from %s to %s', async (name, start, end, urls) => {
    const market = serving(name)
    const { [`create${name}Provider()`]: feed } = FEEDS
    const { days } = (await feed?.create().fetchHistory?.({ start, end }, market.context)) ?? {}
    expect(market.requests.map(({ url }) => url)).toEqual(urls)
    const last = end < TODAY ? end : TODAY
    expect(days).toEqual(urls.length === 0 ? [] : feed?.days?.({ start, end: last }, NOW))
  })

  it('of a series has all days of the currency', async () => {
    const market = serving('BancaDItalia')
    const range = { code: 'XOF', start: '2026-11-02', end: TODAY }
    const { fetchSeries } = providers.createBancaDItaliaProvider()
    const series = await fetchSeries?.(range, market.context)
    const query = 'startDate=2026-11-02&endDate=2026-11-20&baseCurrencyIsoCode=XOF'
    expect(market.requests.map(({ url }) => url)).toEqual([
      `${ITALY}/dailyTimeSeries?${query}&currencyIsoCode=EUR&lang=en`,
    ])
    expect(series?.days).toHaveLength(15)
    expect(series?.days.at(-1)).toEqual({ date: TODAY, rates: { XOF: 655.957 } })
  })

  it('of HM Revenue & Customs are for a file with and without a zero', async () => {
    const { context, requests } = upstream([GONE])
    const march = { start: '2026-03-01', end: '2026-03-31' }
    const reading = providers.createHmrcProvider().fetchHistory(march, context)
    await expect(reading).rejects.toThrow('HTTP 404')
    const files = requests.map(({ url }) => url.replace(/^.*\.uk(\/\w+\/\w+\/).*_/, '$1'))
    const names = ['2026-3.csv', '2026-03.csv']
    expect(files).toEqual(names.flatMap((name) => [`/uk/api/${name}`, `/api/v2/${name}`]))
  })

  it('of currencies are sent four at a time after the first', async () => {
    const counts: number[] = []
    let running = 0
    const fetch: typeof globalThis.fetch = async (input) => {
      counts.push((running += 1))
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return answerOf('Bcb', new Request(input).url)
    }
    const range = { start: '2026-11-19', end: TODAY }
    await providers.createBcbProvider().fetchHistory(range, { ...upstream([]).context, fetch })
    expect(counts).toEqual([1, 1, 2, 3, 4, 1, 2, 3, 4, 1])
  })
})

describe('createNbpProvider()', () => {
  it.each<[what: string, respond: (signal?: AbortSignal | null) => Response | Promise<Response>]>([
    ['fails', () => new Response('', { status: 503 })],
    ['has another format', () => new Response('<p>')],
    [
      'does not respond',
      async (signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')))
        }),
    ],
    ['is of other days', () => Response.json([{ data: '2026-11-21', cena: 500 }])],
  ])('has the currencies where the request for gold %s', async (_what, respond) => {
    const fetch = vi.fn<typeof globalThis.fetch>(async (input, init) => {
      const { url } = new Request(input)
      return url.includes('cenyzlota') ? respond(init?.signal) : answerOf('Nbp', url)
    })
    const range = { start: '2026-11-19', end: TODAY }
    const { days } = await providers.createNbpProvider().fetchHistory(range, {
      ...upstream([]).context,
      fetch,
    })
    expect(fetch).toHaveBeenCalledTimes(2)
    expect(days.map(({ date, prices = {} }) => [date, 'EUR' in prices, 'XAU' in prices])).toEqual([
      ['2026-11-19', true, false],
      [TODAY, true, false],
    ])
  })

  it('throws for another table', () => {
    // @ts-expect-error a table with other rates
    expect(() => providers.createNbpProvider({ table: 'C' })).toThrow(
      /^table must be A or B, got C$/,
    )
  })
})

describe('a bank that publishes a number of units with every price', () => {
  it.each([
    ['Cnb', /"amount":1(00)?\b/, '"amount":null'],
    ['Cnb', /,"amount":1(00)?\b/, ''],
    ['Nbu', /,"units":\d+/, ''],
    ['Mnb', / unit="\d+"/, ''],
    ['Cbr', /<Nominal>\d+<\/Nominal>/, ''],
    ['NorgesBank', /,NOK,SP,4,false,\d/, ',NOK,SP,4,false,'],
    ['NorgesBank', /,UNIT_MULT/, ',OTHER'],
    ['BankOfIsrael', /,OF00,\d/, ',OF00,'],
  ])('has no rates from a response of %s with %s as %j', async (name, unit, without) => {
    const { [`create${name}Provider()`]: feed } = FEEDS
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
function served(history: HistoryProvider[], now: string, respond: (url: URL) => Response) {
  return createRates({
    providers: { latest: false, history },
    fetch: async (input) => respond(new URL(new Request(input).url)),
    now: () => Date.parse(now),
  })
}

describe('a rate of Friday of the National Bank of Ukraine', () => {
  const PRICES = [43.1, 43.2, 43.3, 43.4, 43.5, 43.5, 43.5, 44]
  const rates = served(
    [providers.createNbuProvider()],
    '2026-03-16T09:00:00Z',
    ({ searchParams }) => {
      const rows = PRICES.map((rate, at) => {
        const day = String(at + 9).padStart(2, '0')
        return { exchangedate: `${day}.03.2026`, cc: 'USD', rate, units: 1, day: `202603${day}` }
      })
      return Response.json(rows.filter(({ day }) => day >= (searchParams.get('start') ?? '')))
    },
  )
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
  const bank = [providers.createUsTreasuryProvider()]
  const rates = served(bank, '2026-07-20T09:00:00Z', ({ href }) => {
    const [, start = ''] = /gte:([\d-]+)/.exec(href) ?? []
    return Response.json({ data: data.filter(({ record_date = '' }) => record_date >= start) })
  })

  it('is a rate of its currency alone', async () => {
    const quarter = { start: '2026-04-01', end: '2026-06-30', interval: 'quarter' } as const
    const yen = await rates.history({ from: 'USD', to: 'JPY', ...quarter, value: 'average' })
    expect(yen.points.map(({ r }) => r)).toEqual([150.01])
    const table = await rates.latest({ base: 'USD', date: '2026-06-01' })
    const updatedAt = Date.parse('2026-04-10T20:00:00Z')
    expect(table).toMatchObject({ date: '2026-05-29', older: { JPY: updatedAt } })
    expect(table.rates).toEqual({ ILS: 2.807, JPY: 159.41, USD: 1 })
    const cross = { to: 'JPY', amount: 1, date: '2026-05-29', rule: 'exact' } as const
    const rate = 56.79016744
    expect(await rates.convert({ ...cross, from: 'ILS' })).toMatchObject({ rate, updatedAt })
    await expect(rates.convert({ ...cross, from: 'USD' })).rejects.toThrow('No reference')
  })
})

describe('latest rates', () => {
  it('of the International Monetary Fund may lack currencies of the previous table', async () => {
    const { context } = serving('Imf')
    const imf = providers.createImfProvider()
    const table = await imf.fetchLatest(context)
    const previous = { ...table, rates: { ...table.rates, ...manyRates() } }
    expect(await imf.fetchLatest({ ...context, previous })).toEqual(table)
    // The days of its history, too.
    expect(imf.sanityChecks).toBe('rates')
  })

  it('of TCMB with a side are those of tomorrow in the afternoon', async () => {
    const now = Date.parse('2026-03-16T12:30:00Z')
    const { context, requests } = upstream([(url) => answerOf('Tcmb', url, now)])
    const provider = providers.createTcmbProvider({ key: 'k', side: 'buying' })
    const { updatedAt } = await provider.fetchLatest({ ...context, now: () => now })
    expect([updatedAt, provider.publication?.id]).toEqual([now, 'tcmb-buying'])
    expect(provider.attribution.name).toMatch(/ \(buying rates\)$/)
    expect(requests.map(({ url }) => url)).toEqual([expect.stringContaining('=17-03-2026&')])
  })

  it('that are published before the usual time are of the time of the request', async () => {
    const now = NOW - 6 * 3_600_000
    const { context } = upstream([(url) => answerOf('BankOfEngland', url)])
    const bank = providers.createBankOfEnglandProvider()
    expect(await bank.fetchLatest({ ...context, now: () => now })).toMatchObject({ updatedAt: now })
  })

  it.each([1, 10])('are rejected if they are of %d days ahead', async (days) => {
    const now = NOW - days * 86_400_000
    const body = String(FEEDS['createBankOfEnglandProvider()']?.body(NOW))
    const { context } = upstream([new Response(body)])
    const bank = providers.createBankOfEnglandProvider()
    const reading = bank.fetchLatest({ ...context, now: () => now })
    await expect(reading).rejects.toThrow(/is of 2026-11-\d\d, expected /)
  })
})

describe('a side', () => {
  it.each([
    ['bcb-buying', 5.1, 'buying'],
    ['bcb-selling', 5.3, 'selling'],
    ['bcb', 5.2, 'middle of buying and selling'],
  ])('of PTAX is the source %s', async (source, rate, name) => {
    const history = (['buying', 'selling', undefined] as const).map((side) => {
      return { ...providers.createBcbProvider({ side }), sanityChecks: false }
    })
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

  it('is one of three', () => {
    // @ts-expect-error another side
    expect(() => providers.createBcbProvider({ side: 'ask' })).toThrow(
      /^side must be one of buying, selling, middle, got ask$/,
    )
    // @ts-expect-error a bank that publishes middle rates only
    expect(() => providers.createNbuProvider({ side: 'buying' })).toThrow(/^unknown option "side"/)
  })
})
