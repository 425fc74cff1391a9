import { describe, expect, it } from 'vitest'

import { createAccess, createKey } from '../../src/access/index.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandlerOptions } from '../../src/index.ts'
import { openService } from '../fixtures/service.ts'

const APP = 'https://app.example'
const SHOP = 'https://shop.example:8443'
const LIST = [APP, SHOP]
const LATEST = '/api/v1/latest?symbols=EUR'

/** Not listed, although they look like it. */
const OTHERS =
  `null https://evil.example http://app.example https://app.example:443 https://APP.example
  https://app.example/ https://app.example.evil.example https://evilapp.example https://shop.example
  https://app.example,https://shop.example:8443 * https://user@app.example undefined`.split(/\s+/)

const CORS_HEADERS = /^(access-control-|cross-origin-resource-policy$)/

const EXPOSED = 'ETag, Retry-After, Cache-Status, Link'

type Fetch = (request: Request) => Promise<Response>

async function corsOf(fetch: Fetch, target: string, headers = {}, method = 'GET') {
  const response = await fetch(new Request(`http://localhost${target}`, { method, headers }))
  const cors = [...response.headers].filter(([name]) => CORS_HEADERS.test(name))
  const { status } = response
  return { status, vary: response.headers.get('vary'), cors: Object.fromEntries(cors) }
}

const open = (options: RatesHandlerOptions = {}) => openService({ cors: LIST, ...options }).handler

describe('cors with a list of origins', () => {
  it.each(LIST)('allows scripts of %s to read', async (origin) => {
    expect(await corsOf(open(), LATEST, { origin })).toEqual({
      status: 200,
      vary: 'Origin',
      cors: {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': EXPOSED,
        'cross-origin-resource-policy': 'cross-origin',
      },
    })
  })

  it.each(OTHERS)('allows nothing to the origin %s', async (origin) => {
    const handler = open()
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
      const { vary, cors } = await corsOf(handler, LATEST, { origin }, method)
      expect({ vary, cors }).toEqual({ vary: 'Origin', cors: {} })
    }
  })

  const tag = { 'if-none-match': '*' }
  it.each<[string, string, Record<string, string>, number]>([
    ['GET', LATEST, {}, 200],
    ['GET', '/api/v1/history?from=USD&to=EUR', {}, 200],
    ['GET', '/api/v1/openapi.json', {}, 200],
    ['GET', LATEST, tag, 304],
    ['GET', LATEST, { 'if-match': '"x"' }, 412],
    ['GET', '/api/v1/latest?base=zzz', {}, 400],
    ['GET', '/api/v1/latest?date=1900-01-01', {}, 404],
    ['GET', '/api/v1/nothing', {}, 404],
    ['POST', '/api/v1/latest', {}, 405],
    ['OPTIONS', LATEST, {}, 204],
    ['OPTIONS', '/api/v1/convert', {}, 204],
  ])('sends Vary: Origin to %s %s with %j, a %d', async (method, target, headers, status) => {
    const handler = open()
    const none = await corsOf(handler, target, headers, method)
    expect(none).toEqual({ status, vary: 'Origin', cors: {} })
    const listed = await corsOf(handler, target, { ...headers, origin: APP }, method)
    expect(listed).toMatchObject({ status, vary: 'Origin' })
    expect(listed.cors['access-control-allow-origin']).toBe(APP)
    expect(listed.cors).not.toHaveProperty('access-control-allow-credentials')
    expect('access-control-max-age' in listed.cors).toBe(method === 'OPTIONS')
  })

  it('allows the methods of the endpoint in a preflight, for a day', async () => {
    const handler = open()
    const asked = { origin: SHOP, 'access-control-request-method': 'POST' }
    const preflight = (target: string) => corsOf(handler, target, asked, 'OPTIONS')
    const allowed = {
      'access-control-allow-origin': SHOP,
      'access-control-allow-headers': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-expose-headers': EXPOSED,
      'access-control-max-age': '86400',
      'cross-origin-resource-policy': 'cross-origin',
    }
    expect((await preflight(LATEST)).cors).toEqual(allowed)
    const methods = { 'access-control-allow-methods': 'GET, HEAD, OPTIONS, POST' }
    expect((await preflight('/api/v1/convert')).cors).toEqual({ ...allowed, ...methods })
  })

  it('changes nothing on other paths', async () => {
    const handler = openService({ cors: LIST, explorer: true }).handler
    for (const target of ['/api/rates', '/api', '/api/nothing', '/other']) {
      for (const method of ['GET', 'OPTIONS']) {
        const { vary, cors } = await corsOf(handler, target, { origin: APP }, method)
        expect([target, vary, cors]).toEqual([target, null, {}])
      }
    }
  })

  it.each([
    [[], "cors must be 'v1', 'all', 'off' or an array of origins, got []"],
    [['*'], 'cors must contain origins such as https://example.com, got *'],
    [[null], 'cors must contain origins such as https://example.com, got null'],
    [[new URL(APP)], `cors must contain origins such as https://example.com, got ${APP}/`],
    [['https://app.example/'], 'got https://app.example/'],
    [['https://app.example:443'], 'got https://app.example:443'],
    [['https://*.example'], 'got https://*.example'],
    [['app.example'], 'got app.example'],
    [[APP, 'file:///x'], 'got file:///x'],
    ['https://app.example', "cors must be 'v1', 'all', 'off' or an array of origins, got https:"],
    [{ 0: APP }, 'got [object Object]'],
  ])('must not be %j', (cors, message) => {
    expect(() => createRatesHandler(Object({ cors }))).toThrow(TypeError)
    expect(() => createRatesHandler(Object({ cors }))).toThrow(message)
  })

  it('does not change with the array', async () => {
    const cors = [APP]
    const { handler } = openService({ cors })
    cors[0] = SHOP
    expect((await corsOf(handler, LATEST, { origin: SHOP })).cors).toEqual({})
  })
})

const { key: KEY, hash: HASH } = await createKey()

const access = () =>
  createAccess({
    anonymous: 'free',
    plans: { free: '3/min', pro: '100/min' },
    keys: {
      find: (hash) => (hash === HASH ? { id: 'acme', plan: 'pro' } : undefined),
    },
  })

describe('with access', () => {
  const names = { 'access-control-allow-headers': 'Authorization, X-API-Key, *' }
  const exposed = {
    'access-control-expose-headers': `${EXPOSED}, RateLimit, RateLimit-Policy, WWW-Authenticate`,
  }

  it.each([
    ['every origin', 'v1' as const, '*', null],
    ['listed origins', LIST, APP, 'Origin'],
  ])(
    'preflights of %s name the headers of keys, and cost nothing',
    async (_, cors, allowed, vary) => {
      const { handler } = openService({ cors, access: access() })
      const asked = { origin: APP, 'access-control-request-headers': 'authorization' }
      for (let count = 0; count < 10; count += 1) {
        const preflight = await corsOf(handler, LATEST, asked, 'OPTIONS')
        expect(preflight).toMatchObject({ status: 204, vary, cors: { ...names, ...exposed } })
        expect(preflight.cors['access-control-allow-origin']).toBe(allowed)
      }
    },
  )

  it('responses of every kind expose the limits, and keep one Vary', async () => {
    const { handler } = openService({ cors: LIST, access: access() })
    const keyed = { origin: APP, authorization: `Bearer ${KEY}` }
    const seen = async (headers: object, target = LATEST) => {
      const { status, vary, cors } = await corsOf(handler, target, headers)
      expect(cors).toMatchObject({ ...exposed, 'access-control-allow-origin': APP })
      return [status, vary]
    }
    const vary = 'Origin, Authorization, X-API-Key'
    expect(await seen(keyed)).toEqual([200, vary])
    expect(await seen({ ...keyed, 'if-none-match': '*' })).toEqual([304, vary])
    expect(await seen(keyed, '/api/v1/latest?base=zzz')).toEqual([400, vary])
    expect(await seen({ origin: APP, 'x-api-key': 'wrong' })).toEqual([401, 'Origin'])
    for (const status of [200, 200, 200, 429]) {
      expect(await seen({ origin: APP })).toEqual([status, 'Origin'])
    }
  })
})

it('a route has the rules of the API', async () => {
  const { handler } = openService({ cors: LIST, access: access(), routes: frankfurter() })
  for (const method of ['GET', 'OPTIONS']) {
    const route = await corsOf(handler, '/v1/latest', { origin: SHOP }, method)
    expect(route).toEqual(await corsOf(handler, LATEST, { origin: SHOP }, method))
    expect(route.cors['access-control-allow-origin']).toBe(SHOP)
  }
})
