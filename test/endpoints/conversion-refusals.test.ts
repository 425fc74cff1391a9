import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider } from '../../src/index.ts'
import { BANK_SOURCE, NOW, openMarket } from '../fixtures/hand-written-market.ts'

/** What is no day, the first of them nothing at all. */
const NO_DAYS =
  ' today 20261119 2026-11-9 2026-11-31 2026-02-29 2026-13-01 2026-00-10 26-11-19 2026-11-19T00:00 ' +
  '2026-11-19%20 -2026-11-19 %2B02026-11-19 2026/11/19 19-11-2026 2026-W47-4 1763510400000 ' +
  '2026-11-19,2026-11-18 %EF%BC%92026-11-19'

/** Refused without any data. */
const MALFORMED: [query: string, code: string, message: string][] = [
  ['from=USD&to=', 'invalid_currency', 'Invalid to currency: '],
  ['from=USD&to=%20', 'invalid_currency', 'Invalid to currency:  '],
  ['from=USD&to=EUR,%C5%BFEK', 'invalid_currency', 'Invalid to currency: ſEK'],
  ['from=USD&to=EUR%2C%E2%80%AEUSD', 'invalid_currency', 'Invalid to currency: \\u{202e}USD'],
  ['from=USD&to=EUR,%00', 'invalid_currency', 'Invalid to currency: \\u{0}'],
  ['from=USD&to=EUR;JPY,KWD', 'invalid_currency', 'Invalid to currency: EUR;JPY'],
  ['from=USD,EUR&to=JPY', 'invalid_currency', 'Invalid from currency: USD,EUR'],
  [`from=USD&to=${'A'.repeat(3_000)}%41`, 'invalid_currency', 'A'.repeat(32)],
  ['to=EUR,JPY', 'missing_parameter', 'Missing required parameter: from'],
  ['from=USD&date=2026-11-19', 'missing_parameter', 'Missing required parameter: to'],
  ['from=USD&to=EUR&reverse=true&amount=-1', 'invalid_amount', 'Invalid amount: -1'],
  ...['', '1', 'yes', 'TRUE', 'True', 'true%20', '%20true', 'false,'].map(
    (sent): [string, string, string] => {
      const message = 'Invalid parameter: reverse (true or false)'
      return [`from=USD&to=EUR&reverse=${sent}`, 'invalid_parameter', message]
    },
  ),
  ...NO_DAYS.split(' ').map((sent): [string, string, string] => {
    const message = 'Invalid parameter: date (YYYY-MM-DD)'
    return [`from=USD&to=EUR&date=${sent}`, 'invalid_parameter', message]
  }),
  ...['2026-11-22', '2027-01-01', '9999-12-31'].map((sent): [string, string, string] => {
    const message = 'Invalid parameter: date (not after today)'
    return [`from=USD&to=EUR&date=${sent}`, 'invalid_parameter', message]
  }),
  ...['Date', 'DATE', 'date[]', 'date[0]', '?date', '%64ATE'].map(
    (name): [string, string, string] => {
      const query = `from=USD&to=EUR&${name}=2026-11-19`
      return [query, 'invalid_parameter', `${decodeURIComponent(name)} (write date)`]
    },
  ),
  ...['Reverse', 'REVERSE', 'reverse[]', '?reverse', 'rEverse'].map(
    (name): [string, string, string] => {
      const query = `from=USD&to=EUR&${name}=true`
      return [query, 'invalid_parameter', `${name} (write reverse)`]
    },
  ),
  ['from=USD&to=EUR&to=JPY', 'invalid_parameter', 'to (given more than once)'],
  ['from=USD&to=EUR,KWD&to=JPY', 'invalid_parameter', 'to (given more than once)'],
  ['from=USD&to=EUR&date=2026-11-19&date=', 'invalid_parameter', 'date (given more than once)'],
  ['reverse=true&from=USD&to=EUR&reverse=true', 'invalid_parameter', 'reverse (given more than'],
  ['from=USD&to[]=EUR,JPY', 'invalid_parameter', 'Invalid parameter: to[] (write to)'],
]

/** Refused by what the data are. */
const UNKNOWN: [query: string, status: number, code: string, message: string][] = [
  ['from=USD&to=EUR,ZZZ', 400, 'invalid_currency', 'Invalid to currency: ZZZ'],
  ['from=USD&to=EUR,zzz,yyy', 400, 'invalid_currency', 'Invalid to currency: zzz'],
  ['from=ZZZ&to=EUR,YYY', 400, 'invalid_currency', 'Invalid from currency: ZZZ'],
  ['from=USD&to=HRK,EUR', 400, 'invalid_currency', 'withdrawn on 2023-01-01, use EUR'],
  ['from=USD&to=ZZZ&reverse=true', 400, 'invalid_currency', 'Invalid to currency: ZZZ'],
  ['from=USD&to=EUR,JPY&amount=1e307', 400, 'invalid_amount', 'Invalid amount: 1e307 (the result'],
  [
    'from=USD&to=EUR,KWD&amount=1e308&reverse=true',
    400,
    'invalid_amount',
    'the result is too large',
  ],
  [
    ...(['from=KWD&to=EUR&date=2026-11-20', 400, 'unsupported_currency'] as const),
    'Unsupported from currency: KWD (the rates of 2026-11-20 cover EUR, JPY, USD)',
  ],
  [
    ...(['from=EUR&to=USD,GRD&date=2026-11-21', 400, 'unsupported_currency'] as const),
    'withdrawn on 2001-01-01, use EUR, 1 EUR = 340.75 GRD; the rates of 2026-11-20 cover',
  ],
  ['from=EUR&to=HRK&date=2023-01-02', 404, 'no_data', 'No reference rates of HRK on 2023-01-02'],
  ['from=HRK&to=USD,EUR&date=2026-11-20', 404, 'no_data', 'HRK on 2026-11-20 (withdrawn'],
  ['from=EUR&to=HRK&date=2000-02-29', 404, 'no_data', 'No reference rates of HRK on 2000-02-29'],
  // Fourteen days after the last publication are too many.
  ['from=EUR&to=USD&date=2021-11-20', 404, 'no_data', 'No reference rates of 2021-11-20'],
  ['from=EUR&to=USD&date=2022-12-29', 404, 'no_data', 'No reference rates of 2022-12-29'],
  ['from=EUR&to=USD&date=1999-01-03', 404, 'no_data', 'No reference rates of 1999-01-03'],
  ['from=EUR&to=USD&date=0000-01-01', 404, 'no_data', 'No reference rates of 0000-01-01'],
]

describe('a conversion that cannot be answered', () => {
  it.each(MALFORMED)('%s is refused without a call upstream: %s', async (query, code, message) => {
    const { asked, get } = openMarket()
    const response = await get(`/v1/convert?${query}`)
    const { error } = await response.json()
    expect([response.status, error.code]).toEqual([400, code])
    expect(error.message).toContain(message)
    expect(asked).toEqual([])
  })

  it.each(UNKNOWN)('%s is answered with %i %s', async (query, status, code, message) => {
    const { get } = openMarket()
    const response = await get(`/v1/convert?${query}`)
    const text = await response.text()
    const { error } = JSON.parse(text)
    expect([response.status, error.code]).toEqual([status, code])
    expect(error.message).toContain(message)
    expect(text.length).toBeLessThan(1_024)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('is told apart from a provider that is down', async () => {
    const down: HistoryProvider = {
      attribution: BANK_SOURCE,
      fetchHistory: () => Promise.reject(new Error('secret')),
    }
    const handler = createRatesHandler({ providers: { history: down }, now: () => NOW })
    const target = 'http://localhost/api/v1/convert?from=EUR&to=USD&date=2026-11-20'
    const response = await handler(new Request(target))
    expect(response.status).toBe(502)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await response.json()).toMatchObject({ error: { code: 'provider_unavailable' } })
  })
})
