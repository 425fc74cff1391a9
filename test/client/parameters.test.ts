import { describe, expect, it } from 'vitest'

import { RatesError } from '../../src/client/index.ts'
import type { RatesOperations } from '../../src/index.ts'
import { PAIR, clientOf, handler, reasonOf } from './service.ts'

type Call = (rates: RatesOperations) => Promise<unknown>

describe('a call', () => {
  it.each<[query: string, call: Call]>([
    ['', (api) => api.latest()],
    ['', (api) => api.status()],
    ['?symbols=', (api) => api.latest({ symbols: [] })],
    ['?symbols=EUR', (api) => api.currencies({ symbols: ['EUR'] })],
    ['?base=gbp&symbols=eur%2CUSD', (api) => api.latest({ base: 'gbp', symbols: ['eur', 'USD'] })],
    ['?from=USD&to=EUR', (api) => api.convert({ ...PAIR, amount: undefined })],
    ...([0, 0.1, 1e-7, 1e21, '1.50'] as const).map((amount): [string, Call] => [
      `?from=USD&to=EUR&amount=${encodeURIComponent(amount)}`,
      (api) => api.convert({ ...PAIR, amount }),
    ]),
    ['?from=USD&to=EUR%2C', (api) => api.convert({ from: 'USD', to: ['EUR'] })],
    ['?from=USD&to=EUR&reverse=false', (api) => api.convert({ ...PAIR, reverse: false })],
    [
      '?from=USD&to=EUR%2Cgbp&date=2020-02-29&rule=next&maxAge=3',
      (api) =>
        api.convert({
          from: 'USD',
          to: ['EUR', 'gbp'],
          date: '2020-02-29',
          rule: 'next',
          maxAge: 3,
        }),
    ],
    [
      '?from=USD&to=EUR&start=1999-01-04&end=2020-02-29&interval=month',
      (api) => api.history({ ...PAIR, start: '1999-01-04', end: '2020-02-29', interval: 'month' }),
    ],
  ])('sends %s, and resolves to the same object as the handler', async (query, call) => {
    const { client, requests } = clientOf(handler)
    expect(await call(client)).toEqual(await call(handler.rates))
    expect(requests.map(({ url }) => url.replace(/^[^?]*/, ''))).toEqual([query])
  })
})

describe('a quote', () => {
  it('is requested and repeated with its parameters', async () => {
    const { client, requests } = clientOf(handler)
    const terms = { from: 'USD', to: ['EUR', 'JPY'], round: 'minor', context: 'cart 4711' } as const
    const shown = await client.quote({ ...terms, amount: '99.90' })
    expect(shown.results.JPY.rounded).toMatch(/^\d+$/)
    const { quote } = shown
    expect(await client.convert({ quote, context: 'cart 4711' })).toEqual(shown)
    expect(await client.convert({ quote, ...terms, amount: '99.90' })).toEqual(shown)
    const context = 'context=cart+4711'
    expect(requests.map(({ url }) => url.replace(/^.*\/v1\//, ''))).toEqual([
      `quote?from=USD&to=EUR%2CJPY&round=minor&${context}&amount=99.90`,
      `convert?quote=${quote}&${context}`,
      `convert?quote=${quote}&from=USD&to=EUR%2CJPY&round=minor&${context}&amount=99.90`,
    ])
  })

  it('of another cart rejects with the error of the handler', async () => {
    const { client } = clientOf(handler)
    const { quote } = await client.quote({ ...PAIR, context: 'cart 4711' })
    for (const context of [undefined, 'cart 4712']) {
      const reason = await reasonOf(client.convert({ quote, context }))
      expect(reason).toMatchObject({ name: 'RatesError', code: 'invalid_quote', status: 400 })
    }
  })
})

describe('a call with invalid parameters', () => {
  it('rejects with the error of the handler', async () => {
    const untyped: object[] = [undefined, null, 978, {}, [undefined], [null], []].map((to) =>
      Object.assign(JSON.parse('{"from":"USD"}'), { to }),
    )
    const given = [...untyped, { ...PAIR, amount: NaN }, { from: 'USD', to: 'a&b=c' }]
    for (const params of given) {
      const [error, expected] = await Promise.all(
        [clientOf(handler).client, handler.rates].map((api) =>
          reasonOf(api.convert(Object(params))),
        ),
      )
      // Both use the same class.
      for (const each of [error, expected]) expect(each).toBeInstanceOf(RatesError)
      const { code } = Object(expected)
      expect(error).toMatchObject({ name: 'RatesError', code, retryAfter: undefined })
    }
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
