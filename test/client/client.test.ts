import { afterEach, describe, expect, it, vi } from 'vitest'

import { RatesError, createRatesClient } from '../../src/client/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesOperations } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { PAIR, badGateway, clientOf, conversion, handler, inTurn, reasonOf } from './service.ts'

afterEach(() => vi.unstubAllGlobals())

describe('baseUrl', () => {
  const urlOf = async (baseUrl: string): Promise<string | undefined> => {
    const { client, requests } = clientOf(() => conversion(), { baseUrl })
    await client.convert(PAIR)
    return requests[0]?.url.replace(/\/v1\/convert\?.*/, '')
  }

  it.each([
    ['https://app.example', 'https://app.example'],
    ['https://app.example/', 'https://app.example'],
    ['https://app.example/api//', 'https://app.example/api'],
    ['HTTP://127.0.0.1:8787/fx/rates/', 'http://127.0.0.1:8787/fx/rates'],
  ])('may be %s', async (baseUrl, root) => {
    expect(await urlOf(baseUrl)).toBe(root)
  })

  it.each([
    ...'/api //app.example/api app.example/api localhost:8787/api https:// ftp://app.example/api'.split(
      ' ',
    ),
    '',
    'https://ada:secret@app.example/api',
    'https://app.example/api?key=1',
    'https://app.example/api#latest',
  ])('may not be %j', (baseUrl) => {
    const create = (): unknown => createRatesClient({ baseUrl, fetch: handler })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(/^baseUrl must be /)
    expect(create).not.toThrow(/secret/)
  })

  it('may be a path in a browser, on a page with an origin', async () => {
    vi.stubGlobal('location', { href: 'https://app.example/prices/today?currency=EUR' })
    expect(await urlOf('/api')).toBe('https://app.example/api')
    expect(await urlOf('/')).toBe('https://app.example')
    expect(() => createRatesClient({ baseUrl: 'api' })).toThrow(TypeError)
    vi.stubGlobal('location', { href: 'about:blank' })
    expect(() => createRatesClient({ baseUrl: '/api' })).toThrow(TypeError)
  })

  const byDefault = (path: string): RegExp => new RegExp(`by default "/api".*"${path}"`)
  const express = (): Response => new Response('Cannot GET', { status: 404 })

  it.each([
    ['', handler, 'not_found', byDefault('/')],
    ['/', handler, 'not_found', byDefault('/')],
    ['/fx', handler, 'not_found', byDefault('/fx')],
    ['/api/v1', handler, 'not_found', /without "\/v1"/],
    ['/api/v1/', handler, 'not_found', /without "\/v1"/],
    ['', express, 'internal_error', byDefault('/')],
    ['/api/v1', express, 'internal_error', /without "\/v1"/],
  ])('without a handler is named in the error: %s', async (path, fetch, code, fault) => {
    const client = createRatesClient({ baseUrl: `http://localhost${path}`, fetch })
    for (const call of [client.latest, () => client.convert(PAIR), client.status]) {
      const reason = await reasonOf(call())
      expect(reason).toMatchObject({ code, message: expect.stringMatching(/ \(baseUrl .*\)$/) })
      expect(Object(reason).message).toMatch(fault)
    }
  })

  it.each(['', '/money', '/v1', '/money/v2'])(
    'may end with %j if that is the base path',
    async (basePath) => {
      const fetch = createRatesHandler({ basePath, providers: fakeProviders() })
      const client = createRatesClient({ baseUrl: `http://localhost${basePath}`, fetch })
      expect(await client.convert(PAIR)).toMatchObject({ from: 'USD' })
      expect(await client.status()).toMatchObject({ latest: { ready: true } })
    },
  )
})

describe('an option', () => {
  it.each([
    ['fetch', 'https://app.example'],
    ['fetch', null],
    ['retries', -1],
    ['retries', NaN],
  ])('that is invalid is named in the exception: %s of %j', (name, value) => {
    const options = { baseUrl: 'https://app.example/api', [name]: value }
    expect(() => createRatesClient(options)).toThrow(new RegExp(`^${name} must be `))
  })

  it('fetch is by default the global one of the time of the call', async () => {
    const client = createRatesClient({ baseUrl: 'http://localhost/api' })
    vi.stubGlobal('fetch', handler)
    expect(await client.convert(PAIR)).toMatchObject({ from: 'USD', to: 'EUR', amount: 1 })
  })
})

describe('convertMany()', () => {
  const rows = [
    { from: 'USD', to: 'EUR', amount: '12.50' },
    { from: 'USD', to: ['EUR', 'GBP'], date: '2026-11-14', rule: 'next' },
    { from: 'USD', to: 'ZZZ' },
  ] as const

  it('posts the rows, and returns what the handler returns', async () => {
    const { client, requests } = clientOf(handler)
    expect(await client.convertMany(rows)).toEqual(await handler.rates.convertMany(rows))
    const [request] = requests
    expect([request?.method, request?.url]).toEqual(['POST', 'http://localhost/api/v1/convert'])
    expect(await client.convertMany([])).toEqual([])
  })

  it('is retried like other calls', async () => {
    const respond = inTurn(badGateway(), () => Response.json([{ rate: 1 }]))
    const { client, requests, advance } = clientOf(respond)
    const converting = client.convertMany(rows.slice(0, 1))
    await advance(1_000)
    expect(await converting).toEqual([{ rate: 1 }])
    expect(requests).toHaveLength(2)
  })

  const tooMany = Array.from({ length: 10_001 }, () => PAIR)

  it.each([undefined, null, {}, tooMany, [{ ...PAIR, amount: '1'.repeat(1_048_576) }]])(
    'rejects without an array within the limits: %.9j',
    async (wrong) => {
      const error = { name: 'RatesError', code: 'invalid_parameter' }
      const { convertMany } = Object(clientOf(handler).client)
      await expect(convertMany(wrong)).rejects.toMatchObject(error)
    },
  )
})

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

  it('with invalid parameters rejects with the error of the handler', async () => {
    const tos = [undefined, null, 978, {}, [undefined], [null], []].map((to) => ({
      from: 'USD',
      to,
    }))
    for (const params of [...tos, { ...PAIR, amount: NaN }, { from: 'USD', to: 'a&b=c' }]) {
      const apis = [clientOf(handler).client, handler.rates]
      const reasons = apis.map((api) => reasonOf(api.convert(Object(params))))
      const [error, expected] = await Promise.all(reasons)
      // Both use the same class.
      for (const each of [error, expected]) expect(each).toBeInstanceOf(RatesError)
      const { code } = Object(expected)
      expect(error).toMatchObject({ name: 'RatesError', code, retryAfter: undefined })
    }
  })

  it.each(['EUR,GBP', 'EUR,', ['EUR,GBP'], ['USD', 'EUR,GBP']])('rejects %j', async (to) => {
    expect(await reasonOf(clientOf(handler).client.convert({ from: 'USD', to }))).toMatchObject({
      code: 'invalid_currency',
      message: expect.stringContaining('EUR;'),
    })
  })

  it('rejects one result for a list, and several for a code', async () => {
    const list = { from: 'USD', to: ['EUR'] }
    const one = clientOf(() => Response.json({ rate: 2, result: 2 })).client
    const several = clientOf(() => Response.json({ results: {} })).client
    for (const call of [one.convert(list), several.convert(PAIR)]) {
      expect(await reasonOf(call)).toMatchObject({ code: 'internal_error' })
    }
    expect(await several.convert(list)).toEqual({ results: {} })
  })
})

describe('a quote', () => {
  it('is requested and repeated with its parameters', async () => {
    const { client, requests } = clientOf(handler)
    const terms = { from: 'USD', to: ['EUR', 'JPY'], round: 'minor', context: 'cart 4711' } as const
    const shown = await client.quote({ ...terms, amount: '99.90' })
    const { quote } = shown
    expect(await client.convert({ quote, context: 'cart 4711' })).toEqual(shown)
    expect(await client.convert({ quote, ...terms, amount: '99.90' })).toEqual(shown)
    const context = 'context=cart+4711'
    expect(requests.map(({ url }) => url.replace(/^.*\/v1\//, ''))).toEqual([
      `quote?from=USD&to=EUR%2CJPY&round=minor&${context}&amount=99.90`,
      `convert?quote=${quote}&${context}`,
      `convert?quote=${quote}&from=USD&to=EUR%2CJPY&round=minor&${context}&amount=99.90`,
    ])
    const reason = await reasonOf(client.convert({ quote, context: 'cart 4712' }))
    expect(reason).toMatchObject({ name: 'RatesError', code: 'invalid_quote', status: 400 })
  })
})
