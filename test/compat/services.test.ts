import { describe, expect, it } from 'vitest'

import { exchangerateHost } from '../../src/compat/exchangerate-host.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import {
  BANK_SOURCE,
  LATEST_SOURCE,
  NOW,
  UPDATED_AT,
  openMarket,
} from '../fixtures/hand-written-market.ts'

type Row = [path: string, status: number, body: unknown]

const [BANK, LATEST] = [BANK_SOURCE.url, LATEST_SOURCE.url]

/** Names of the currencies with latest rates. */
const NAMES = {
  EUR: 'Euro',
  JPY: 'Japanese Yen',
  KWD: 'Kuwaiti Dinar',
  SLL: 'Sierra Leonean Leone (to 2022)',
  USD: 'US Dollar',
}

/** The latest rates, against the dollar. */
const RATES = { USD: 1, EUR: 0.8, JPY: 150, KWD: 0.3, SLL: 22_000 }

/** Publication times, in seconds: of the latest rates, and of the reference rates of 2026-11-20. */
const [LATEST_AT, BANK_AT] = [UPDATED_AT / 1_000, Date.UTC(2026, 10, 20, 15) / 1_000]

async function ask(mount: typeof frankfurter, path: string) {
  const handler = mount(openMarket().handler, { now: () => NOW })
  const response = await handler(new Request(`http://localhost${path}`))
  return { status: response.status, body: await response.json() }
}

describe('frankfurter()', () => {
  const notFound = { message: 'not found' }
  const day = { amount: 1, base: 'EUR', date: '2026-11-20', rates: { USD: 1.17 } }
  const span = (start: string, end: string, [first, last]: readonly object[]) => ({
    amount: 1,
    base: 'EUR',
    start_date: start,
    end_date: end,
    rates: { [start]: first, ...(last && { [end]: last }) },
  })
  const last = span('2026-11-20', '2026-11-20', [{ USD: 1.17 }])
  const both = span('2026-11-19', '2026-11-20', [{ JPY: 198.55 }, { JPY: 199.1 }])
  const yen = { ...both, amount: 1.1 }

  it.each<Row>([
    ['/v1/latest', 200, { ...day, rates: { JPY: 181, USD: 1.17 } }],
    ['/v1/current?to=USD', 200, day],
    [
      '/v1/latest?base=usd&symbols=jpy,EUR,XYZ,U$D',
      200,
      { ...day, base: 'USD', rates: { EUR: 0.8547008547, JPY: 154.7008547 } },
    ],
    ['/v1/latest?from=EUR&base=USD&to=USD&symbols=JPY', 200, day],
    ['/v1/latest?amount=1.1&symbols=JPY', 200, { ...day, amount: 1.1, rates: { JPY: 199.1 } }],
    ['/v1/2026-11-22?symbols=USD', 200, day],
    ['/v1/2999-01-01?symbols=USD', 200, day],
    ['/v1/2000-03-01?symbols=GRD', 200, { ...day, date: '2000-02-29', rates: { GRD: 333.86 } }],
    ['/v1/2026-11-19..2026-11-20?amount=1.1&symbols=JPY', 200, yen],
    ['/v1/2026-11-19..?amount=1.1&to=JPY', 200, yen],
    ['/v1/2026-11-20..2999-01-01?to=USD', 200, last],
    // Starts on the last published day before the range; a withdrawn code appears until its last day.
    [
      '/v1/2023-01-01..2023-01-03?symbols=HRK,USD',
      200,
      span('2022-12-30', '2023-01-02', [{ HRK: 7.5365, USD: 1.0666 }, { USD: 1.0683 }]),
    ],
    [
      '/v1/1990-01-01..2000-12-31?from=USD&to=GRD',
      200,
      {
        ...span('1999-01-04', '2000-02-29', [{ GRD: 277.5044533 }, { GRD: 343.6895203 }]),
        base: 'USD',
      },
    ],
    ['/v1/currencies', 200, { EUR: 'Euro', JPY: 'Japanese Yen', USD: 'US Dollar' }],
    ['/latest?symbols=USD', 200, day],
    ['/2026-11-20?symbols=USD', 200, day],
    [
      '/history?start_at=2026-11-20&base=EUR&symbols=USD',
      200,
      { ...last, start_at: '2026-11-20', end_at: '2026-11-20' },
    ],
    ['/v1/latest?amount=', 422, { message: 'Invalid amount: ' }],
    ['/v1/2026-11-19..2026-11-20?amount=0', 422, { message: 'Invalid amount: 0' }],
    [
      '/v1/latest?amount=1e308&symbols=JPY',
      422,
      { message: 'Invalid amount: 1e+308 (the result is too large)' },
    ],
    ['/v1/latest?base=XYZ', 404, notFound],
    ['/v1/latest?base=', 404, notFound],
    ['/v1/latest?symbols=XYZ', 404, notFound],
    ['/v1/latest?symbols=EUR', 404, notFound],
    ['/v1/latest?base=USD&symbols=USD', 422, { message: 'bad currency pair' }],
    [
      '/v1/latest?base=USD&base=JPY',
      422,
      { message: 'Invalid parameter: base (given more than once)' },
    ],
    ['/v1/latest?BASE=USD', 422, { message: 'Invalid parameter: BASE (use base)' }],
    ['/v1/2026-13-01', 422, { message: 'Invalid parameter: date (YYYY-MM-DD)' }],
    ['/v1/2026-02-30..', 422, { message: 'Invalid parameter: date (YYYY-MM-DD)' }],
    ['/v1/2026-11-20..2026-11-19', 404, notFound],
    ['/v1/2999-01-01..', 404, notFound],
    ['/v1/1998-01-01', 404, notFound],
    ['/history?start_at=x', 422, { message: 'Invalid parameter: start_at (YYYY-MM-DD)' }],
    ['/v1', 404, { status: 404, message: 'not found' }],
    ['/v1/rates', 404, { status: 404, message: 'not found' }],
  ])('GET %s is %i', async (path, status, body) => {
    expect(await ask(frankfurter, path)).toEqual({ status, body })
  })

  it('serves only paths below /v1 with unprefixed: false', async () => {
    const mount: typeof frankfurter = (handler, options) =>
      frankfurter(handler, { ...options, unprefixed: false })
    expect((await ask(mount, '/v1/latest')).status).toBe(200)
    expect(await ask(mount, '/latest')).toMatchObject({ body: { error: { code: 'not_found' } } })
  })
})

describe('exchangerateHost()', () => {
  const latest = { success: true, terms: LATEST, privacy: LATEST }
  const bank = { success: true, terms: BANK, privacy: BANK }
  const live = (source: string, quotes: object) => ({
    ...latest,
    timestamp: LATEST_AT,
    source,
    quotes,
  })
  const dated = { historical: true, date: '2026-11-20' }
  const frame = 'start_date=2026-11-19&end_date=2026-11-20'
  const ends = { start_date: '2026-11-19', end_date: '2026-11-20', source: 'EUR' }
  const params = { from: 'EUR', to: 'USD', amount: 3 }
  const one = {
    query: { ...params, amount: 1 },
    info: { timestamp: LATEST_AT, quote: 1.25 },
    result: 1.25,
  }

  it.each<[path: string, body: object]>([
    ['/live?currencies=EUR,usd', live('USD', { USDEUR: 0.8 })],
    [
      '/live?access_key=k&source=KWD',
      live('KWD', { KWDUSD: 3.333333333, KWDEUR: 2.666666667, KWDJPY: 500, KWDSLL: 73_333.33333 }),
    ],
    [
      '/historical?date=2026-11-21&source=EUR',
      {
        ...bank,
        ...dated,
        timestamp: BANK_AT,
        source: 'EUR',
        quotes: { EURJPY: 181, EURUSD: 1.17 },
      },
    ],
    [
      '/convert?from=EUR&to=USD&amount=3',
      { ...latest, query: params, info: { timestamp: LATEST_AT, quote: 1.25 }, result: 3.75 },
    ],
    ['/convert?from=EUR&to=USD', { ...latest, ...one }],
    [
      '/convert?from=EUR&to=USD&amount=3&date=2026-11-20',
      { ...bank, query: params, info: { timestamp: BANK_AT, quote: 1.17 }, ...dated, result: 3.51 },
    ],
    [
      `/timeframe?source=EUR&currencies=JPY&${frame}`,
      {
        ...bank,
        timeframe: true,
        ...ends,
        quotes: { '2026-11-19': { EURJPY: 180.5 }, '2026-11-20': { EURJPY: 181 } },
      },
    ],
    [
      '/timeframe?source=EUR&currencies=HRK&start_date=2022-12-30&end_date=2023-01-02',
      {
        ...bank,
        timeframe: true,
        ...ends,
        start_date: '2022-12-30',
        end_date: '2023-01-02',
        quotes: { '2022-12-30': { EURHRK: 7.5365 } },
      },
    ],
    [
      `/change?source=EUR&currencies=USD&${frame}`,
      {
        ...bank,
        change: true,
        ...ends,
        quotes: { EURUSD: { start_rate: 1.16, end_rate: 1.17, change: 0.01, change_pct: 0.8621 } },
      },
    ],
    ['/list', { ...latest, currencies: NAMES }],
  ])('GET %s is 200', async (path, body) => {
    expect(await ask(exchangerateHost, path)).toMatchObject({ status: 200, body })
  })

  it.each<[path: string, code: number, type: string]>([
    ['/live?source=XYZ', 201, 'invalid_source_currency'],
    ['/live?currencies=EUR,XYZ', 202, 'invalid_currency_codes'],
    [`/live?currencies=${'EUR,'.repeat(999)}`, 202, 'invalid_currency_codes'],
    ['/historical', 301, 'no_date_supplied'],
    ['/historical?date=2026-13-01', 302, 'invalid_date'],
    ['/historical?date=2999-01-01', 302, 'invalid_date'],
    ['/historical?date=1990-01-01', 106, 'no_rates_available'],
    ['/convert?to=EUR', 401, 'invalid_from_currency'],
    ['/convert?from=EUR&to=EURO', 402, 'invalid_to_currency'],
    ...['abc', '-5', '0x10', '1e400', ''].map((sent): [string, number, string] => [
      `/convert?from=EUR&to=USD&amount=${sent}`,
      403,
      'invalid_conversion_amount',
    ]),
    ['/convert?from=EUR&to=USD&date=', 302, 'invalid_date'],
    ['/timeframe?start_date=2026-11-19', 501, 'no_timeframe_supplied'],
    ['/timeframe?start_date=x&end_date=2026-11-20', 502, 'invalid_start_date'],
    ['/timeframe?start_date=2026-11-20&end_date=x', 503, 'invalid_end_date'],
    ['/timeframe?start_date=2026-11-20&end_date=2026-11-19', 504, 'invalid_time_frame'],
    ['/timeframe?start_date=2025-11-19&end_date=2026-11-20', 505, 'time_frame_too_long'],
    [`/timeframe?source=EUR&currencies=EUR&${frame}`, 106, 'no_rates_available'],
    [`/change?currencies=XYZ&${frame}`, 202, 'invalid_currency_codes'],
  ])('GET %s is 200 with the error %i', async (path, code, type) => {
    const error = { code, type, info: expect.any(String) }
    expect(await ask(exchangerateHost, path)).toEqual({
      status: 200,
      body: { success: false, error },
    })
  })
})

describe('openExchangeRates()', () => {
  const terms = (license: string) => ({ disclaimer: expect.any(String), license })
  const latest = { ...terms(LATEST), timestamp: LATEST_AT, base: 'USD' }
  const bank = { ...terms(BANK), base: 'EUR' }
  const range = { ...bank, start_date: '2026-11-19', end_date: '2026-11-20' }
  const series = 'base=EUR&start=2026-11-19&end=2026-11-20'
  const error = (status: number, message: string) => ({
    error: true,
    status,
    message,
    description: expect.any(String),
  })

  it.each<Row>([
    ['/api/latest.json?app_id=k', 200, { ...latest, rates: RATES }],
    [
      '/api/latest.json?base=eur&symbols=USD,XYZ,nonsense',
      200,
      { ...latest, base: 'EUR', rates: { USD: 1.25 } },
    ],
    [
      '/api/historical/2026-11-21.json?base=EUR',
      200,
      { ...bank, timestamp: BANK_AT, rates: { EUR: 1, JPY: 181, USD: 1.17 } },
    ],
    [
      `/api/time-series.json?${series}&symbols=JPY`,
      200,
      { ...range, rates: { '2026-11-19': { JPY: 180.5 }, '2026-11-20': { JPY: 181 } } },
    ],
    [`/api/time-series.json?${series}&symbols=XYZ`, 200, { ...range, rates: {} }],
    [
      '/api/convert/3/EUR/USD',
      200,
      {
        ...terms(LATEST),
        request: { query: '/convert/3/EUR/USD', amount: 3, from: 'EUR', to: 'USD' },
        meta: { timestamp: LATEST_AT, rate: 1.25 },
        response: 3.75,
      },
    ],
    ['/api/currencies.json', 200, NAMES],
    ['/api/latest.json?base=XYZ', 400, error(400, 'invalid_base')],
    ['/api/historical/2026-13-01.json', 400, error(400, 'invalid_date')],
    ['/api/historical/1990-01-01.json', 400, error(400, 'not_available')],
    ['/api/time-series.json?start=2026-11-19', 400, error(400, 'invalid_date')],
    ['/api/convert/0x10/EUR/USD', 400, error(400, 'invalid_amount')],
    ['/api/convert/1/EUR/XYZ', 400, error(400, 'invalid_currency')],
    ['/api/convert/1/EUR', 404, error(404, 'not_found')],
    ['/api/usage.json', 404, error(404, 'not_found')],
    [
      '/api/convert?from=EUR&to=USD',
      200,
      {
        from: 'EUR',
        to: 'USD',
        amount: 1,
        rate: 1.25,
        result: 1.25,
        updatedAt: UPDATED_AT,
        provider: `Latest (${LATEST})`,
      },
    ],
  ])('GET %s is %i', async (path, status, body) => {
    expect(await ask(openExchangeRates, path)).toEqual({ status, body })
  })
})
