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

const EXPOSED = 'ETag, Retry-After, Cache-Status, Link'

function open(options: RatesHandlerOptions = {}) {
  const { get } = openService({ cors: LIST, ...options })
  return async (target: string, headers = {}, method = 'GET') => {
    const { status, headers: sent } = await get(target, { method, headers })
    const isCors = (name: string) => /^(access-control-|cross-origin-resource-policy$)/.test(name)
    const cors = Object.fromEntries([...sent].filter(([name]) => isCors(name)))
    return { status, vary: sent.get('vary'), cors }
  }
}

describe('cors with a list of origins', () => {
  const ask = open()

  it.each(OTHERS)('allows nothing to the origin %s', async (origin) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
      const { vary, cors } = await ask(LATEST, { origin }, method)
      expect({ vary, cors }).toEqual({ vary: 'Origin', cors: {} })
    }
  })

  const tag = { 'if-none-match': '*' }
  it.each<[string, string, Record<string, string>, number, methods?: string]>([
    ['GET', LATEST, {}, 200],
    ['GET', '/api/v1/history?from=USD&to=EUR', {}, 200],
    ['GET', '/api/v1/openapi.json', {}, 200],
    ['GET', LATEST, tag, 304],
    ['GET', LATEST, { 'if-match': '"x"' }, 412],
    ['GET', '/api/v1/latest?base=zzz', {}, 400],
    ['GET', '/api/v1/latest?date=1900-01-01', {}, 404],
    ['GET', '/api/v1/nothing', {}, 404],
    ['POST', '/api/v1/latest', {}, 405],
    ['OPTIONS', LATEST, {}, 204, 'GET, HEAD, OPTIONS'],
    ['OPTIONS', '/api/v1/convert', {}, 204, 'GET, HEAD, OPTIONS, POST'],
  ])('sends Vary: Origin to %s %s with %j, a %d', async (method, target, sent, status, methods) => {
    expect(await ask(target, sent, method)).toEqual({ status, vary: 'Origin', cors: {} })
    for (const origin of LIST) {
      const preflight = methods && {
        'access-control-allow-headers': '*',
        'access-control-allow-methods': methods,
        'access-control-max-age': '86400',
      }
      expect(await ask(target, { ...sent, origin }, method)).toEqual({
        status,
        vary: 'Origin',
        cors: {
          'access-control-allow-origin': origin,
          'access-control-expose-headers': EXPOSED,
          'cross-origin-resource-policy': 'cross-origin',
          ...preflight,
        },
      })
    }
  })

  it.each(['/api/rates', '/api', '/api/nothing', '/other'])(
    'changes nothing on %s',
    async (path) => {
      for (const method of ['GET', 'OPTIONS']) {
        const { vary, cors } = await open({ explorer: true })(path, { origin: APP }, method)
        expect({ vary, cors }).toEqual({ vary: null, cors: {} })
      }
    },
  )

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
    const later = open({ cors })
    cors[0] = SHOP
    expect((await later(LATEST, { origin: SHOP })).cors).toEqual({})
  })
})

const { key: KEY, hash: HASH } = await createKey()
const access = () =>
  createAccess({
    anonymous: 'free',
    plans: { free: '3/min', pro: '100/min' },
    keys: { find: (hash) => (hash === HASH ? { id: 'acme', plan: 'pro' } : undefined) },
  })

describe('with access', () => {
  const exposed = {
    'access-control-expose-headers': `${EXPOSED}, RateLimit, RateLimit-Policy, WWW-Authenticate`,
  }

  it.each([
    ['v1' as const, '*', null],
    [LIST, APP, 'Origin'],
  ])('preflights of %s name the headers of keys, and cost nothing', async (cors, allowed, vary) => {
    const ask = open({ cors, access: access() })
    const asked = { origin: APP, 'access-control-request-headers': 'authorization' }
    const names = { 'access-control-allow-headers': 'Authorization, X-API-Key, *' }
    const expected = { ...names, ...exposed, 'access-control-allow-origin': allowed }
    for (let count = 0; count < 10; count += 1) {
      const preflight = await ask(LATEST, asked, 'OPTIONS')
      expect(preflight).toMatchObject({ status: 204, vary, cors: expected })
    }
  })

  it('responses of every kind expose the limits, and keep one Vary', async () => {
    const ask = open({ access: access() })
    const keyed = { origin: APP, authorization: `Bearer ${KEY}` }
    const expectSent = async (status: number, vary: string, headers: object, target = LATEST) => {
      const cors = { ...exposed, 'access-control-allow-origin': APP }
      expect(await ask(target, headers)).toMatchObject({ status, vary, cors })
    }
    const vary = 'Origin, Authorization, X-API-Key'
    await expectSent(200, vary, keyed)
    await expectSent(304, vary, { ...keyed, 'if-none-match': '*' })
    await expectSent(400, vary, keyed, '/api/v1/latest?base=zzz')
    await expectSent(401, 'Origin', { origin: APP, 'x-api-key': 'wrong' })
    for (const status of [200, 200, 200, 429]) await expectSent(status, 'Origin', { origin: APP })
  })
})

it('a route has the rules of the API', async () => {
  const ask = open({ access: access(), routes: frankfurter() })
  for (const method of ['GET', 'OPTIONS']) {
    const route = await ask('/v1/latest', { origin: SHOP }, method)
    expect(route).toEqual(await ask(LATEST, { origin: SHOP }, method))
    expect(route.cors['access-control-allow-origin']).toBe(SHOP)
  }
})
