import { describe, expect, it } from 'vitest'

import { RatesError, createRatesHandler } from '../../src/index.ts'
import type { Access, RatesEvent, Route, RouteFunction, Routes } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { bodyInOnePart } from '../whole-body.ts'

const providers = fakeProviders()

function open(routes: Routes, options: Parameters<typeof createRatesHandler>[0] = {}) {
  const events: RatesEvent[] = []
  const onEvent = (event: RatesEvent): void => void events.push(event)
  const handler = createRatesHandler({ providers, onEvent, routes, ...options })
  const send = async (target: string, init?: RequestInit) => {
    const response = await handler(new Request(`http://host.example${target}`, init))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const statusOf = async (...request: Parameters<typeof send>) => (await send(...request)).status
  return { handler, send, statusOf, events }
}

const echo: RouteFunction = ({ method, url, params, query, headers }) => ({
  method,
  url,
  params: { ...params },
  query: { ...query },
  tenant: headers.get('x-tenant'),
})

describe('a route', () => {
  it('gets the request, with the parts of its path and its query', async () => {
    const { send } = open([{ path: '/shop/:code', get: echo }])
    const { status, text } = await send('/shop/EUR?a=&a=1&a=%C3%A9&b=2&__proto__=3', {
      headers: { 'x-tenant': '7' },
    })
    expect(status).toBe(200)
    expect(JSON.parse(text)).toEqual({
      method: 'GET',
      url: 'http://localhost/shop/EUR?a=&a=1&a=%C3%A9&b=2&__proto__=3',
      params: { code: 'EUR' },
      query: JSON.parse('{"a":["","1","é"],"b":"2","__proto__":"3"}'),
      tenant: '7',
    })
  })

  it('gets no header that a request cannot have', async () => {
    const { handler } = open([{ path: '/a', get: echo }])
    const headers = () => Object.entries({ 'x-name': 'Łukasz', 'x-tenant': '7' })
    const request = { method: 'GET', target: '/a', header: () => undefined, headers }
    const { status, body } = await handler.answer(request)
    expect([status, JSON.parse(String(bodyInOnePart(body))).tenant]).toEqual([200, '7'])
  })

  it('gets the rates and the clock of the handler', async () => {
    const now = Date.UTC(2026, 10, 20, 18)
    const get: RouteFunction = async ({ params }, rates, context) => ({
      now: context.now(),
      ...(await rates.convert({ from: 'USD', to: params['code'] ?? '' })),
    })
    const { send, handler } = open([{ path: '/shop/:code', get }], { now: () => now })
    const conversion = await handler.rates.convert({ from: 'USD', to: 'EUR' })
    expect(JSON.parse((await send('/shop/EUR')).text)).toEqual({ now, ...conversion })
  })

  it('is matched by groups of a regular expression, and passes other paths on', async () => {
    const path = '/v1/(?<date>[0-9]{4}-[0-9]{2}-[0-9]{2})..(?<end>[0-9]{4}-[0-9]{2}-[0-9]{2})?'
    const { send, handler } = open([{ path, get: echo }])
    expect(JSON.parse((await send('/v1/2026-11-20..')).text).params).toEqual({ date: '2026-11-20' })
    for (const target of ['/v1/2026-11-20', '/v1/2026-1-20..', '/v2/2026-11-20..']) {
      const request = { method: 'GET', target, header: () => undefined }
      expect(await handler.answer(request)).toMatchObject({ status: 404, matched: false })
    }
  })

  it('is below the root, not below the base path, whose characters match themselves', async () => {
    const get = () => new Response('mine')
    expect(() => open([{ path: '/*', get }])).toThrow(
      new TypeError('a route must not match an endpoint: /* matches /api/v1'),
    )
    const { send } = open([{ path: '/v1/latest', get }])
    expect((await send('/v1/latest')).text).toBe('mine')
    expect(JSON.parse((await send('/api/v1/latest')).text).base).toBe('USD')
    const odd = open([{ path: '/api/v2', get }], { basePath: '/a.p*i' })
    expect(await odd.statusOf('/a.p*i/v1/status')).toBe(200)
    expect(await odd.statusOf('/axpppi/v1/status')).toBe(404)
    expect((await odd.send('/api/v2')).text).toBe('mine')
  })

  it.each([
    ['/both', 'OPTIONS', [204, 'GET, HEAD, OPTIONS, POST', false]],
    ['/read', 'HEAD', [200, null, false]],
    ['/read', 'POST', [405, 'GET, HEAD, OPTIONS', true]],
    ['/write', 'GET', [405, 'OPTIONS, POST', true]],
  ])('has HEAD and OPTIONS, and refuses other methods: %s %s', async (path, method, expected) => {
    const { send } = open([
      { path: '/both', get: echo, post: echo },
      { path: '/read', get: echo },
      { path: '/write', post: echo },
    ])
    const { status, headers, text } = await send(path, { method })
    expect([status, headers.get('allow'), text.length > 0]).toEqual(expected)
  })

  it.each([
    ['an object', () => ({ a: 1 })],
    ['a response', () => new Response('a', { headers: { 'cache-control': 'max-age=60' } })],
  ])('has an entity tag and 304 for %s', async (_, get) => {
    const { send, statusOf } = open([{ path: '/a', get }])
    const { headers } = await send('/a')
    const etag = headers.get('etag') ?? ''
    expect(headers.get('cache-control')).toContain('max-age=60')
    expect(await statusOf('/a', { headers: { 'if-none-match': etag } })).toBe(304)
    expect(await statusOf('/a', { headers: { 'if-match': '"other"' } })).toBe(412)
    expect((await send('/a', { method: 'HEAD' })).headers.get('etag')).toBe(etag)
  })

  it.each([
    ['if-none-match', '"2", W/"1"', 304],
    ['if-none-match', '"1"', 304],
    ['if-none-match', 'W/"2"', 200],
    ['if-match', 'W/"1"', 412],
  ])('with a weak entity tag has for %s: %s the status %d', async (name, list, status) => {
    const get: RouteFunction = () => new Response('a', { headers: { etag: 'W/"1"' } })
    const { statusOf } = open([{ path: '/a', get }])
    expect(await statusOf('/a', { headers: { [name]: list } })).toBe(status)
  })

  it('keeps the status and the headers of its response', async () => {
    const headers: [string, string][] = [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['cache-control', 'no-store'],
      ['location', '/elsewhere'],
    ]
    const { send } = open([{ path: '/a', get: () => new Response(null, { status: 303, headers }) }])
    const sent = await send('/a', { redirect: 'manual' })
    expect(sent.status).toBe(303)
    expect(sent.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(sent.headers.get('location')).toBe('/elsewhere')
    expect(sent.headers.get('etag')).toBeNull()
  })

  it.each<['v1' | 'off' | string[], (string | null)[]]>([
    ['v1', ['*', null, 'Accept']],
    [['https://listed.example'], [null, null, 'Accept, Origin']],
    ['off', ['https://own.example', null, 'Accept']],
  ])('has the CORS headers of the API, not those of its response: %j', async (cors, expected) => {
    const headers = { 'access-control-allow-origin': 'https://own.example', vary: 'Accept' }
    const routes = [{ path: '/a', get: () => new Response(null, { status: 204, headers }) }]
    const init = { headers: { origin: 'https://other.example' } }
    const sent = (await open(routes, { cors }).send('/a', init)).headers
    const names = 'access-control-allow-origin access-control-allow-methods vary'.split(' ')
    expect(names.map((name) => sent.get(name))).toEqual(expected)
  })

  it('gets the body of a POST of at most 1 MiB', async () => {
    const post: RouteFunction = async (request) => ({ length: (await request.text()).length })
    const { send } = open([{ path: '/a', post }])
    const sent = (length: number) => send('/a', { method: 'POST', body: 'a'.repeat(length) })
    expect(await sent(3)).toMatchObject({ status: 200, text: '{"length":3}' })
    expect(await sent(1_048_576)).toMatchObject({ status: 200, text: '{"length":1048576}' })
    expect((await sent(1_048_577)).status).toBe(413)
  })

  it('is a 503 with a large body while 256 MiB of others wait for their clients to read', async () => {
    const get: RouteFunction = ({ params }) => ({ a: 'a'.repeat(Number(params['length'])) })
    const { handler } = open([{ path: '/:length', get }])
    const statusOf = async (length: number, unsent: number) => {
      const about = { header: () => undefined, unsentBytes: () => unsent }
      return (await handler.answer({ method: 'GET', target: `/${length}`, ...about })).status
    }
    expect(await statusOf(20_000, 256 * 1_048_576)).toBe(200)
    expect(await statusOf(20_000, 256 * 1_048_576 + 1)).toBe(503)
    expect(await statusOf(10_000, 256 * 1_048_576 + 1)).toBe(200)
  })
})

const throwPrivate = (): never => {
  throw new Error('private')
}

describe('an error of a route', () => {
  const unknown = new RatesError('invalid_currency', 'Invalid currency: XYZ')
  const get = async (): Promise<never> => {
    throw unknown
  }
  const failing = (error?: Route['error']): Route[] => [{ path: '/a', get, error }]

  it('has the body and the status that the route gives it', async () => {
    const error = ({ message }: RatesError) => ({ body: { no: message }, status: 200 })
    const { status, headers, text } = await open(failing(error)).send('/a')
    expect([status, JSON.parse(text)]).toEqual([200, { no: 'Invalid currency: XYZ' }])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it.each<[string, Route['error']]>([
    ['is missing', undefined],
    ['throws', throwPrivate],
    ['has a status outside of HTTP', () => ({ body: {}, status: 999 })],
    ['has a status without a body', () => ({ body: {}, status: 204 })],
    ['has a fraction as the status', () => ({ body: {}, status: 200.5 })],
    ['is not JSON', () => ({ body: { big: 1n } })],
    ['is nothing as JSON', () => ({ body: { toJSON: () => undefined } })],
  ])('is that of the versioned endpoints if the form %s', async (_, error) => {
    const { status, text } = await open(failing(error)).send('/a')
    const versioned = { code: 'invalid_currency', message: 'Invalid currency: XYZ' }
    expect([status, JSON.parse(text)]).toEqual([400, { error: versioned }])
  })

  it.each<[string, RouteFunction]>([
    ['throws', throwPrivate],
    [
      'throws what has the name of an error, but no status',
      () => Promise.reject(Object.assign(new Error('private'), { name: 'RatesError', status: 9 })),
    ],
    ['returns nothing', () => JSON.parse('null')],
    ['returns a text', () => JSON.parse('"a"')],
    ['returns a response of an error', () => Response.error()],
    [
      'returns a response that was read',
      async () => {
        const response = new Response('a')
        await response.text()
        return response
      },
    ],
  ])('is a 500 with an event if the function %s', async (_, get) => {
    const { send, events } = open([{ path: '/a', get }])
    const { status, text } = await send('/a')
    const error = { code: 'internal_error', message: 'Internal error' }
    expect([status, JSON.parse(text)]).toEqual([500, { error }])
    expect(events.filter(({ type }) => type === 'internal_error')).toHaveLength(1)
  })
})

describe('the limits of a handler', () => {
  const invalid: RouteFunction = () => {
    throw new RatesError('invalid_parameter', 'Invalid')
  }
  const nothing = (): RouteFunction => () => ({})

  it.each<[what: string, target: string, Partial<Route>, admitted: number, real: number]>([
    ['1 by default', '/a/1', {}, 1, 1],
    ['a constant', '/a/1', { cost: 4 }, 4, 4],
    ['computed', '/a/3', { cost: ({ params }) => Number(params['n']) }, 3, 3],
    ['computed, rounded up', '/a/2.1', { cost: ({ params }) => Number(params['n']) }, 3, 3],
    ['at most 10', '/a/100', { cost: ({ params }) => Number(params['n']) }, 10, 10],
    ['the most if it throws', '/a/1', { cost: throwPrivate }, 10, 10],
    ['the most if it is not a number', '/a/1', { cost: () => NaN }, 10, 10],
    ['the most if it is negative', '/a/1', { cost: () => -0.5 }, 10, 10],
    ['the most if it is null', '/a/1', { cost: () => JSON.parse('null') }, 10, 10],
    ['whole for an internal error', '/a/1', { get: throwPrivate, cost: 3 }, 3, 3],
    ['1 for an invalid request', '/a/1', { get: invalid, cost: 5 }, 5, 1],
  ])('take the cost of a route: %s', async (_what, target, route, admitted, real) => {
    const costs: [admitted: number, real: number][] = []
    const access: Access = {
      createGuard: () => ({
        admit: ({ cost }) => ({
          refusal: undefined,
          finish(response, taken) {
            costs.push([cost, taken])
            return response
          },
        }),
        close() {},
      }),
    }
    const free = { path: '/free', get: echo, cost: 0 }
    const { send } = open([{ path: '/a/:n', get: nothing(), ...route }, free], { access })
    for (const each of [target, '/free', '/unknown']) {
      await send(each, { headers: { 'if-none-match': '*' } })
    }
    expect(costs).toEqual([[admitted, real]])
  })
})

it.each([
  [[{}], 'routes[0].path must be a path from the root, got undefined'],
  [[{ path: 'a', get: echo }], 'routes[0].path must be a path from the root, got a'],
  [[{ path: '/a(', get: echo }], 'the path of a route must be a pattern, got /a('],
  [[{ path: '/a' }], 'routes[0] must have get or post'],
  [[[{ path: '/a', get: 1 }]], 'routes[0].get must be a function, got number'],
  ...[11, 0.5].map((cost): [unknown, string] => [
    [{ path: '/a', get: echo, cost }],
    `routes[0].cost must be a whole number from 0 to 10, got ${cost}`,
  ]),
  [
    [{ path: '/a', get: echo, pots: echo }],
    'unknown option "routes[0].pots"; did you mean "routes[0].post"?',
  ],
  [[null], 'routes[0] must be an object, got null'],
  [{ path: '/a' }, 'routes must be an array, got object'],
])('the option routes refuses %j', (routes, message) => {
  // @ts-expect-error invalid routes
  expect(() => open(routes)).toThrow(new TypeError(message))
})
