import { describe, expect, it } from 'vitest'

import { RatesError } from '../../src/client/index.ts'
import type { RatesOperations } from '../../src/index.ts'
import { PAIR, clientOf, handler, reasonOf } from './service.ts'

const DATE = '2020-02-29'

type Call = (rates: RatesOperations) => Promise<unknown>

/** Calls a client; returns the body of the response and the query of the request. */
async function send(call: Call) {
  const { client, requests } = clientOf(handler)
  const body = await call(client)
  const query = requests.map(({ url }) => url.replace(/^http:\/\/localhost\/api\/v1\/\w+/, ''))
  return { body, query: query.join() }
}

describe('a call', () => {
  it.each<[query: string, call: Call]>([
    ['', (api) => api.latest()],
    ['?symbols=', (api) => api.latest({ symbols: [] })],
    ['?base=gbp&symbols=eur%2CUSD', (api) => api.latest({ base: 'gbp', symbols: ['eur', 'USD'] })],
    ['', (api) => api.currencies()],
    ['', (api) => api.status()],
    ['?from=USD&to=EUR', (api) => api.convert(PAIR)],
    ['?from=USD&to=EUR', (api) => api.convert({ ...PAIR, amount: undefined })],
    ...([0, 0.1, 1e-7, 1e21, 1.5e300] as const).map((amount): [string, Call] => [
      `?from=USD&to=EUR&amount=${encodeURIComponent(amount)}`,
      (api) => api.convert({ ...PAIR, amount }),
    ]),
    ['?from=USD&to=EUR', (api) => api.history(PAIR)],
    ['?from=USD&to=EUR&period=5Y', (api) => api.history({ ...PAIR, period: '5Y' })],
    ['?from=USD&to=EUR%2Cgbp', (api) => api.convert({ from: 'USD', to: ['EUR', 'gbp'] })],
    ['?from=USD&to=EUR%2C', (api) => api.convert({ from: 'USD', to: ['EUR'] })],
    [
      '?from=usd&to=JPY%2CEUR&amount=0.1&date=2020-02-29&reverse=true',
      (api) =>
        api.convert({ from: 'usd', to: ['JPY', 'EUR'], amount: 0.1, date: DATE, reverse: true }),
    ],
    [
      '?from=USD&to=EUR&amount=100&reverse=true',
      (api) => api.convert({ ...PAIR, amount: 100, reverse: true }),
    ],
    ['?from=USD&to=EUR&reverse=false', (api) => api.convert({ ...PAIR, reverse: false })],
    ['?from=USD&to=EUR&date=2020-02-29', (api) => api.convert({ ...PAIR, date: DATE })],
    [
      '?from=USD&to=EUR&date=2020-02-29&rule=next&maxAge=3',
      (api) => api.convert({ ...PAIR, date: DATE, rule: 'next', maxAge: 3 }),
    ],
    [
      '?base=gbp&date=2020-02-29&rule=next&maxAge=3',
      (api) => api.latest({ base: 'gbp', date: DATE, rule: 'next', maxAge: 3 }),
    ],
    ['?date=2020-02-29', (api) => api.latest({ date: DATE })],
    [
      '?base=gbp&symbols=EUR%2Cjpy&date=1999-01-04',
      (api) => api.latest({ base: 'gbp', symbols: ['EUR', 'jpy'], date: '1999-01-04' }),
    ],
    ['?symbols=&date=2020-02-29', (api) => api.latest({ symbols: [], date: DATE })],
    ['?from=USD&to=EUR%2Cgbp', (api) => api.history({ from: 'USD', to: ['EUR', 'gbp'] })],
    [
      '?from=USD&to=EUR%2C&start=2020-02-29&interval=year&value=high',
      (api) =>
        api.history({ from: 'USD', to: ['EUR'], start: DATE, interval: 'year', value: 'high' }),
    ],
    ['?from=USD&to=EUR&fill=previous', (api) => api.history({ ...PAIR, fill: 'previous' })],
    ['?from=USD&to=EUR&start=2026-11-01', (api) => api.history({ ...PAIR, start: '2026-11-01' })],
    [
      '?from=USD&to=EUR&start=1999-01-04&end=2020-02-29&interval=month',
      (api) => api.history({ ...PAIR, start: '1999-01-04', end: DATE, interval: 'month' }),
    ],
    [
      '?from=USD&to=EUR&period=1Y&interval=week',
      (api) => api.history({ ...PAIR, period: '1Y', interval: 'week' }),
    ],
  ])('sends %s, and resolves to the same object as the handler', async (query, call) => {
    const sent = await send(call)
    expect(sent.query).toBe(query)
    expect(sent.body).toEqual(await call(handler.rates))
  })

  it('with a list of one currency resolves to results by code', async () => {
    const { client } = clientOf(handler)
    const { results } = await client.convert({ from: 'USD', to: ['eur'], amount: 2 })
    const { rate, result } = await client.convert({ ...PAIR, amount: 2 })
    expect(results).toEqual({ EUR: { rate, result } })
  })
})

describe('a call with invalid parameters', () => {
  it.each<[code: string, call: Call]>([
    ['invalid_currency', (api) => api.latest({ base: 'XYZ' })],
    ['invalid_currency', (api) => api.convert({ from: 'USD', to: 'a&b=c' })],
    ['invalid_currency', (api) => api.latest({ base: '' })],
    ['invalid_amount', (api) => api.convert({ ...PAIR, amount: NaN })],
    ['unsupported_currency', (api) => api.history({ from: 'USD', to: 'KID' })],
    ['invalid_currency', (api) => api.convert({ from: 'USD', to: [] })],
    ['invalid_currency', (api) => api.convert({ from: 'USD', to: ['EUR', 'euro'] })],
    ['invalid_parameter', (api) => api.convert({ ...PAIR, date: '' })],
    ['no_data', (api) => api.latest({ date: '1998-12-31' })],
    ['invalid_parameter', (api) => api.history({ ...PAIR, start: DATE, end: '2020-02-28' })],
  ])('rejects with the %s of the handler', async (code, call) => {
    const expected = await reasonOf(call(handler.rates))
    const reason = await reasonOf(call(clientOf(handler).client))
    // Both use the same class.
    for (const error of [expected, reason]) expect(error).toBeInstanceOf(RatesError)
    const { message } = Object(expected)
    expect(reason).toMatchObject({ name: 'RatesError', code, message, retryAfter: undefined })
  })

  it('rejects a code with a comma', async () => {
    const { client } = clientOf(handler)
    for (const to of ['EUR,GBP', 'EUR,', ['EUR,GBP'], ['USD', 'EUR,GBP']]) {
      expect(await reasonOf(client.convert({ from: 'USD', to }))).toMatchObject({
        code: 'invalid_currency',
        message: expect.stringContaining('EUR;'),
      })
    }
  })

  it('rejects untyped values with the code of the handler', async () => {
    const { client } = clientOf(handler)
    for (const to of [undefined, null, 978, {}, [undefined], [null]]) {
      const untyped: typeof PAIR = Object.assign(JSON.parse('{"from":"USD"}'), { to })
      const { code } = Object(await reasonOf(handler.rates.convert(untyped)))
      expect(code).toMatch(to === undefined ? /^missing_parameter$/ : /^invalid_currency$/)
      expect(await reasonOf(client.convert(untyped))).toMatchObject({ code })
    }
  })
})

describe('a response in the wrong form', () => {
  it('is an error: one result for a list, or several for a code', async () => {
    const list = { from: 'USD', to: ['EUR'] }
    const one = clientOf(() => Response.json({ rate: 2, result: 2 })).client
    const several = clientOf(() => Response.json({ results: {} })).client
    for (const call of [one.convert(list), several.convert(PAIR)]) {
      expect(await reasonOf(call)).toMatchObject({ code: 'internal_error' })
    }
    expect(await several.convert(list)).toEqual({ results: {} })
  })
})
