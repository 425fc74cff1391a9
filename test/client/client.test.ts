import { afterEach, describe, expect, it, vi } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { PAIR, clientOf, conversion, handler, inTurn } from './service.ts'

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
    ['https://app.example/api', 'https://app.example/api'],
    ['https://app.example/api//', 'https://app.example/api'],
    ['HTTP://127.0.0.1:8787/fx/rates/', 'http://127.0.0.1:8787/fx/rates'],
  ])('may be %s', async (baseUrl, root) => {
    expect(await urlOf(baseUrl)).toBe(root)
  })

  const NO_ORIGIN = '/api //app.example/api app.example/api localhost:8787/api https://'.split(' ')
  const TOO_MUCH = ['?key=1', '#latest'].map((end) => `https://app.example/api${end}`)
  const OTHERS = ['', 'ftp://app.example/api', 'https://ada:secret@app.example/api']

  it.each([...NO_ORIGIN, ...TOO_MUCH, ...OTHERS])('may not be %j', (baseUrl) => {
    const create = (): unknown => createRatesClient({ baseUrl, fetch: handler })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(/^baseUrl must be /)
    expect(create).not.toThrow(/secret/)
  })

  it('may be a path in a browser', async () => {
    vi.stubGlobal('location', { href: 'https://app.example/prices/today?currency=EUR' })
    expect(await urlOf('/api')).toBe('https://app.example/api')
    expect(await urlOf('/')).toBe('https://app.example')
    expect(() => createRatesClient({ baseUrl: 'api' })).toThrow(TypeError)
  })

  it('may not be a path on a page without an origin', () => {
    vi.stubGlobal('location', { href: 'about:blank' })
    expect(() => createRatesClient({ baseUrl: '/api' })).toThrow(TypeError)
  })
})

describe('a baseUrl without a handler', () => {
  const byDefault = (path: string): RegExp => new RegExp(`by default "/api".*"${path}"`)
  const express = (): Response => new Response('Cannot GET', { status: 404 })

  it.each([
    ['http://localhost', handler, 'not_found', byDefault('/')],
    ['http://localhost/', handler, 'not_found', byDefault('/')],
    ['http://localhost/fx', handler, 'not_found', byDefault('/fx')],
    ['http://localhost/api/v1', handler, 'not_found', /without "\/v1"/],
    ['http://localhost/api/v1/', handler, 'not_found', /without "\/v1"/],
    ['http://localhost', express, 'internal_error', byDefault('/')],
    ['http://localhost/api/v1', express, 'internal_error', /without "\/v1"/],
  ])('is named in the error: %s', async (baseUrl, fetch, code, fault) => {
    const client = createRatesClient({ baseUrl, fetch })
    for (const call of [() => client.latest(), () => client.convert(PAIR), () => client.status()]) {
      await expect(call()).rejects.toMatchObject({
        code,
        message: expect.stringMatching(/ \(baseUrl .*\)$/),
      })
      await expect(call()).rejects.toThrow(fault)
    }
  })

  it.each(['', '/money', '/v1', '/money/v2'])(
    'may end with %j if that is the base path',
    async (basePath) => {
      const providers = fakeProviders()
      const fetch = createRatesHandler({ basePath, providers })
      const client = createRatesClient({ baseUrl: `http://localhost${basePath}`, fetch })
      expect(await client.convert(PAIR)).toMatchObject({ from: 'USD' })
      expect(await client.status()).toMatchObject({ latest: { ready: true } })
    },
  )
})

describe('an invalid option', () => {
  it.each([
    ['fetch', 'https://app.example'],
    ['fetch', null],
    ['retries', -1],
    ['retries', NaN],
  ])('is named in the exception: %s of %j', (name, value) => {
    const options = { baseUrl: 'https://app.example/api', [name]: value }
    expect(() => createRatesClient(options)).toThrow(new RegExp(`^${name} must be `))
  })
})

describe('a client without the option fetch', () => {
  it('uses the global fetch of the time of the call', async () => {
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
    const unavailable = () => new Response('{}', { status: 502 })
    const { client, requests, advance } = clientOf(
      inTurn(unavailable, () => Response.json([{ rate: 1 }])),
    )
    const converting = client.convertMany(rows.slice(0, 1))
    await advance(1_000)
    expect(await converting).toEqual([{ rate: 1 }])
    expect(requests).toHaveLength(2)
  })

  it('rejects without an array within the limits', async () => {
    const { client } = clientOf(handler)
    const tooMany = Array.from({ length: 10_001 }, () => ({ from: 'USD', to: 'EUR' }))
    const tooLong = [{ from: 'USD', to: 'EUR', amount: '1'.repeat(1_048_576) }]
    for (const wrong of [undefined, null, {}, tooMany, tooLong]) {
      await expect(client.convertMany(asRows(wrong))).rejects.toMatchObject({
        name: 'RatesError',
        code: 'invalid_parameter',
      })
    }
  })
})

/** Untyped callers may pass anything. */
function asRows(value: unknown): [] {
  const { rows }: { rows: [] } = Object({ rows: value })
  return rows
}
