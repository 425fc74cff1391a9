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

  const WRONG = `/api //app.example/api app.example/api localhost:8787/api https:// ftp://app.example/api
    https://ada:secret@app.example/api https://app.example/api?key=1 https://app.example/api#latest`

  it.each(['', ...WRONG.split(/\s+/)])('may not be %j', (baseUrl) => {
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

// test/parameters asks all questions, and compares all answers.
describe('a call', () => {
  it.each<[query: string, call: Call]>([
    ['', (api) => api.status()],
    ['?symbols=', (api) => api.latest({ symbols: [] })],
    ['?base=gbp&symbols=eur%2CUSD', (api) => api.latest({ base: 'gbp', symbols: ['eur', 'USD'] })],
    ['?from=USD&to=EUR', (api) => api.convert({ ...PAIR, amount: undefined })],
    ['?from=USD&to=EUR&amount=1e%2B21', (api) => api.convert({ ...PAIR, amount: 1e21 })],
    ['?from=USD&to=EUR%2C', (api) => api.convert({ from: 'USD', to: ['EUR'] })],
    ['?from=USD&to=EUR&reverse=false', (api) => api.convert({ ...PAIR, reverse: false })],
  ])('sends %s, and resolves to the same object as the handler', async (query, call) => {
    const { client, requests } = clientOf(handler)
    expect(await call(client)).toEqual(await call(handler.rates))
    expect(requests.map(({ url }) => url.replace(/^[^?]*/, ''))).toEqual([query])
  })

  it('with invalid parameters rejects with the class and the code of the handler', async () => {
    const tos = [undefined, null, 978, {}, [undefined], [null], []].map((to) => ({
      from: 'USD',
      to,
    }))
    const others = [{ amount: NaN }, { to: 'a&b=c' }, { format: 'csv' }, { utm_source: 'mail' }]
    for (const params of [...tos, ...others.map((each) => ({ ...PAIR, ...each }))]) {
      const apis = [clientOf(handler).client, handler.rates]
      const reasons = apis.map((api) => reasonOf(api.convert(Object(params))))
      const [error, expected] = await Promise.all(reasons)
      expect(error).toBeInstanceOf(RatesError)
      expect(expected).toBeInstanceOf(RatesError)
      expect(error).toMatchObject({ code: Object(expected).code, retryAfter: undefined })
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

/** Creates a client of the synthetic market and records the status of every response. */
function market() {
  const statuses: number[] = []
  const { client, tags } = clientOf(async (request) => {
    const response = await handler(request)
    statuses.push(response.status)
    return response
  })
  return { client, statuses, tags }
}

describe('a repeated call', () => {
  it('uses the cached body after a 304', async () => {
    const { client, statuses } = market()
    for (const call of [
      () => client.latest({ symbols: ['EUR'] }),
      () => client.history(PAIR),
      () => client.convert(PAIR),
      () => client.currencies(),
    ]) {
      const first = await call()
      expect(await call()).toEqual(first)
      expect(statuses.splice(0)).toEqual([200, 304])
    }
  })

  it('uses the new body and its ETag after a 200', async () => {
    let rate = 1
    const { client, tags } = clientOf(() => conversion((rate += 1)))
    expect(await client.convert(PAIR)).toMatchObject({ rate: 2 })
    expect(await client.convert(PAIR)).toMatchObject({ rate: 3 })
    await client.convert(PAIR)
    expect(tags()).toEqual([null, '"2"', '"3"'])
  })

  it('resolves to a new object, and never to the body of other parameters', async () => {
    const { client, statuses } = market()
    const first = await client.latest()
    const copy = structuredClone(first)
    first.rates['EUR'] = 0
    first.source.name = 'changed'
    expect(await client.latest()).toEqual(copy)
    expect((await client.latest({ base: 'EUR' })).base).toBe('EUR')
    expect(statuses).toEqual([200, 304, 200])
  })

  it('is revalidated if it is among the 64 most recent', async () => {
    const { client, statuses } = market()
    const convert = (amount: number): Promise<unknown> => client.convert({ ...PAIR, amount })
    for (let amount = 0; amount < 64; amount += 1) await convert(amount)
    await convert(0)
    await convert(64)
    statuses.splice(0)
    await convert(0)
    await convert(64)
    await convert(2)
    await convert(1)
    expect(statuses).toEqual([304, 304, 304, 200])
  })

  it.each([
    ['without an ETag', () => Response.json({ result: 1 })],
    ['other than 200', () => Response.json({}, { status: 404, headers: { etag: '"404"' } })],
  ])('sends no condition after a response %s', async (_which, respond) => {
    const { client, tags } = clientOf(inTurn(respond, conversion))
    await client.convert(PAIR).catch(() => undefined)
    expect(await client.convert(PAIR)).toMatchObject({ rate: 2 })
    expect(tags()).toEqual([null, null])
  })

  it('sends no condition in a browser, which has its own cache', async () => {
    vi.stubGlobal('location', { href: 'https://app.example/' })
    const { client, statuses, tags } = market()
    await client.convert(PAIR)
    await client.convert(PAIR)
    expect(tags()).toEqual([null, null])
    expect(statuses).toEqual([200, 200])
  })
})
