import { describe, expect, it } from 'vitest'

import { exchangeRateApi } from '../../src/compat/exchange-rate-api.ts'
import { exchangerateHost } from '../../src/compat/exchangerate-host.ts'
import { frankfurterV2 } from '../../src/compat/frankfurter-v2.ts'
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

const BAD_AMOUNTS = ['abc', '-5', '0x10', '1e400']

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
  const range = { amount: 1.1, base: 'EUR', start_date: '2026-11-19', end_date: '2026-11-20' }
  const dollar = { '2026-11-20': { USD: 1.17 } }
  const last = { ...range, amount: 1, start_date: '2026-11-20', rates: dollar }
  const yen = { '2026-11-19': { JPY: 198.55 }, '2026-11-20': { JPY: 199.1 } }
  const amount = (sent: string) => ({ message: `Invalid amount: ${sent}` })

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
    ['/v1/2026-11-19..2026-11-20?amount=1.1&symbols=JPY', 200, { ...range, rates: yen }],
    ['/v1/2026-11-19..?amount=1.1&to=JPY', 200, { ...range, rates: yen }],
    ['/v1/2026-11-20..2999-01-01?to=USD', 200, last],
    // Starts on the last published day before the range; a withdrawn code appears until its last day.
    [
      '/v1/2023-01-01..2023-01-03?symbols=HRK,USD',
      200,
      {
        amount: 1,
        base: 'EUR',
        start_date: '2022-12-30',
        end_date: '2023-01-02',
        rates: { '2022-12-30': { HRK: 7.5365, USD: 1.0666 }, '2023-01-02': { USD: 1.0683 } },
      },
    ],
    [
      '/v1/1990-01-01..2000-12-31?from=USD&to=GRD',
      200,
      {
        amount: 1,
        base: 'USD',
        start_date: '1999-01-04',
        end_date: '2000-02-29',
        rates: { '1999-01-04': { GRD: 277.5044533 }, '2000-02-29': { GRD: 343.6895203 } },
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
    ...[...BAD_AMOUNTS, '', '0'].flatMap((sent): Row[] =>
      ['latest', '2026-11-19..2026-11-20'].map((path) => [
        `/v1/${path}?amount=${sent}`,
        422,
        amount(sent),
      ]),
    ),
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

describe('frankfurterV2()', () => {
  const usd = { date: '2026-11-20', base: 'EUR', quote: 'USD', rate: 1.25 }
  const bank = { ...usd, rate: 1.17 }
  const before = { ...bank, date: '2026-11-19', rate: 1.16 }
  const all = [{ ...bank, quote: 'EUR', rate: 1 }, { ...bank, quote: 'JPY', rate: 181 }, bank]
  const euro = { iso_code: 'EUR', iso_numeric: '978', name: 'Euro' }
  const yen = { iso_code: 'JPY', iso_numeric: '392', name: 'Japanese Yen' }
  const notFound = { status: 404, message: 'not found' }
  const refused = (message: string) => ({ status: 422, message })

  it.each<Row>([
    ['/v2/rates?quotes=USD', 200, [usd]],
    [
      '/v2/rates?base=jpy&quotes=kwd,JPY',
      200,
      [
        { ...usd, base: 'JPY', quote: 'JPY', rate: 1 },
        { ...usd, base: 'JPY', quote: 'KWD', rate: 0.002 },
      ],
    ],
    ['/v2/rates?providers=ecb&quotes=USD', 200, [bank]],
    ['/v2/rates?date=2026-11-22&quotes=USD', 200, [bank]],
    ['/v2/rates?date=2026-11-20', 200, all],
    ['/v2/rates?from=2026-11-19&quotes=USD', 200, [before, bank]],
    ['/v2/rates?from=2026-11-20&to=2999-01-01', 200, all],
    [
      '/v2/rates?from=2023-01-01&to=2023-01-01&quotes=USD',
      200,
      [{ ...bank, date: '2022-12-30', rate: 1.0666 }],
    ],
    ['/v2/rates?from=2999-01-01', 200, []],
    ['/v2/rates?quotes=GRD', 200, []],
    ['/v2/rates?date=1990-01-01', 200, []],
    // The mean of the whole month, from any of its days: (1.16 + 1.17) / 2, and 2 / (180.5 + 181).
    [
      '/v2/rates?from=2026-11-20&group=month&quotes=USD',
      200,
      [{ ...bank, date: '2026-11-01', rate: 1.165 }],
    ],
    [
      '/v2/rates?from=2026-11-20&group=month&base=JPY&quotes=EUR',
      200,
      [{ date: '2026-11-01', base: 'JPY', quote: 'EUR', rate: 0.005532503458 }],
    ],
    [
      '/v2/rates?from=2022-12-30&to=2023-01-02&group=week&quotes=USD',
      200,
      [
        { ...bank, date: '2022-12-31', rate: 1.0666 },
        { ...bank, date: '2023-01-08', rate: 1.0683 },
      ],
    ],
    [
      '/v2/rates?from=1999-01-01&quotes=GRD',
      200,
      [
        { ...bank, date: '1999-01-04', quote: 'GRD', rate: 327.15 },
        { ...bank, date: '2000-02-29', quote: 'GRD', rate: 333.86 },
      ],
    ],
    ['/v2/rate/eur/usd', 200, usd],
    ['/v2/rate/EUR/USD?providers=ECB', 200, bank],
    ['/v2/rate/EUR/USD?date=2026-11-19', 200, before],
    ['/v2/currency/jpy', 200, yen],
    [
      '/v2/currencies?providers=ECB',
      200,
      [euro, yen, { iso_code: 'USD', iso_numeric: '840', name: 'US Dollar' }],
    ],
    ['/v2/rates?symbols=USD', 422, refused('unknown parameter: symbols')],
    ['/v2/rates?base[]=USD', 422, refused('unknown parameter: base[]')],
    ['/v2/rates?base=XYZ', 422, refused('invalid currency: XYZ')],
    ['/v2/rates?quotes=USD,XYZ', 422, refused('invalid currency: XYZ')],
    ['/v2/rates?base=EURO', 422, refused('invalid currency: EURO')],
    [
      '/v2/rates?providers=ECB,FED',
      422,
      refused(expect.stringMatching(/^Invalid parameter: providers \(.*ECB.*FED/)),
    ],
    ['/v2/rates?expand=providers', 422, refused(expect.stringMatching(/: expand \(.+\)$/))],
    ['/v2/rates?group=day', 422, refused(expect.stringMatching(/: group \(.*week or month\)$/))],
    ['/v2/rates?date=2026-13-01', 422, refused('Invalid parameter: date (YYYY-MM-DD)')],
    [
      '/v2/rates?date=2026-11-20&from=2026-11-20',
      422,
      refused(expect.stringMatching(/^Invalid parameter: date \(.*from.*to\)$/)),
    ],
    ['/v2/rates?to=2026-11-20', 422, refused(expect.stringMatching(/: to \(.*from\)$/))],
    [
      '/v2/rates?from=1999-01-04',
      422,
      refused(
        expect.stringMatching(/^Invalid parameter: from \(.*\b5 years .*\b5 quotes.*group\)$/),
      ),
    ],
    ['/v2/rate/EUR/GRD', 404, notFound],
    ['/v2/currency/XYZ', 404, notFound],
    ['/v2/providers', 404, notFound],
    ['/v2/rates.csv', 404, notFound],
    ['/v2', 404, notFound],
  ])('GET %s is %i', async (path, status, body) => {
    expect(await ask(frankfurterV2, path)).toEqual({ status, body })
  })
})

describe('exchangerateHost()', () => {
  const latest = { success: true, terms: LATEST, privacy: LATEST }
  const bank = { success: true, terms: BANK, privacy: BANK }
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
    [
      '/live?currencies=EUR,usd',
      { ...latest, timestamp: LATEST_AT, source: 'USD', quotes: { USDEUR: 0.8 } },
    ],
    [
      '/live?access_key=k&source=KWD',
      {
        ...latest,
        timestamp: LATEST_AT,
        source: 'KWD',
        quotes: { KWDUSD: 3.333333333, KWDEUR: 2.666666667, KWDJPY: 500, KWDSLL: 73_333.33333 },
      },
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
    ...[...BAD_AMOUNTS, ''].map((sent): [string, number, string] => [
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
    ...BAD_AMOUNTS.map((sent): Row => [
      `/api/convert/${sent}/EUR/USD`,
      400,
      error(400, 'invalid_amount'),
    ]),
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

  it('lets the handler serve the OpenAPI document', async () => {
    const { body } = await ask(openExchangeRates, '/api/v1/openapi.json')
    expect(body).toHaveProperty('openapi')
  })
})

describe('exchangeRateApi()', () => {
  const terms = (url: string) => ({ result: 'success', documentation: url, terms_of_use: url })
  const times = {
    time_last_update_unix: LATEST_AT,
    time_last_update_utc: 'Fri, 20 Nov 2026 17:00:00 +0000',
    time_next_update_unix: NOW / 1_000 + 80_000,
    time_next_update_utc: 'Sat, 21 Nov 2026 16:13:20 +0000',
  }
  const open = {
    ...terms(LATEST),
    provider: LATEST,
    ...times,
    time_eol_unix: 0,
    base_code: 'USD',
    rates: RATES,
  }
  const old = {
    provider: LATEST,
    WARNING_UPGRADE_TO_V6: LATEST,
    terms: LATEST,
    base: 'USD',
    date: '2026-11-20',
    time_last_updated: LATEST_AT,
    rates: RATES,
  }
  const pair = {
    ...terms(LATEST),
    ...times,
    base_code: 'EUR',
    target_code: 'USD',
    conversion_rate: 1.25,
  }
  const past = { ...terms(BANK), year: 2026, month: 11, day: 20, base_code: 'EUR' }
  const error = (type: string) => ({ result: 'error', 'error-type': type })

  it.each<Row>([
    ['/v6/latest', 200, open],
    ['/v6/latest/usd', 200, open],
    [
      '/v6/a-key/latest/USD',
      200,
      { ...terms(LATEST), ...times, base_code: 'USD', conversion_rates: RATES },
    ],
    ['/v6/a-key/pair/EUR/USD', 200, pair],
    ['/v6/a-key/pair/EUR/USD/3', 200, { ...pair, conversion_result: 3.75 }],
    ['/v6/a-key/codes', 200, { ...terms(LATEST), supported_codes: Object.entries(NAMES) }],
    [
      '/v6/a-key/history/EUR/2026/11/21',
      200,
      { ...past, conversion_rates: { EUR: 1, JPY: 181, USD: 1.17 } },
    ],
    [
      '/v6/a-key/history/EUR/2026/11/21/1.1',
      200,
      { ...past, requested_amount: 1.1, conversion_amounts: { EUR: 1.1, JPY: 199.1, USD: 1.287 } },
    ],
    ['/v4/latest', 200, old],
    ['/v4/latest/USD', 200, old],
    ['/v6/latest/XYZ', 404, error('unsupported-code')],
    ['/v6/a-key/pair/EUR/GRD', 404, error('unsupported-code')],
    ...BAD_AMOUNTS.map((sent): Row => [
      `/v6/a-key/pair/EUR/USD/${sent}`,
      400,
      error('malformed-request'),
    ]),
    ['/v6/a-key/history/EUR/1990/1/1', 404, error('no-data-available')],
    ['/v6/a-key/history/EUR/2026/13/1', 400, error('malformed-request')],
    ['/v6/a-key/quota', 404, error('malformed-request')],
    ['/v6/a-key/enriched/EUR/USD', 404, error('malformed-request')],
    ['/v4/latest/XYZ', 404, { result: 'error', error_type: 'unsupported_code' }],
    ['/v4/other', 404, { result: 'error', error_type: 'malformed_request' }],
  ])('GET %s is %i', async (path, status, body) => {
    expect(await ask(exchangeRateApi, path)).toEqual({ status, body })
  })
})
