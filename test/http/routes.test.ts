import { describe, expect, it } from 'vitest'

import { RatesError, createRatesHandler } from '../../src/index.ts'
import type { Access, RatesEvent, Route, RouteFunction, Routes } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { bodyInOnePart } from '../whole-body.ts'

function open(routes: Routes, options: Parameters<typeof createRatesHandler>[0] = {}) {
  const events: RatesEvent[] = []
  const handler = createRatesHandler({
    providers: fakeProviders(),
    onEvent: (event) => events.push(event),
    routes,
    ...options,
  })
  const send = async (target: string, init?: RequestInit) => {
    const response = await handler(new Request(`http://host.example${target}`, init))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { handler, send, events }
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
    const headers = (): [string, string][] => [
      ['x-name', 'Łukasz'],
      ['x-tenant', '7'],
    ]
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
    const { text } = await send('/shop/EUR')
    const conversion = await handler.rates.convert({ from: 'USD', to: 'EUR' })
    expect(JSON.parse(text)).toEqual({ now, ...conversion })
  })

  it('is matched by groups of a regular expression, and passes other paths on', async () => {
    const path = '/v1/(?<date>[0-9]{4}-[0-9]{2}-[0-9]{2})..(?<end>[0-9]{4}-[0-9]{2}-[0-9]{2})?'
    const { send, handler } = open([{ path, get: echo }])
    expect(JSON.parse((await send('/v1/2026-11-20..')).text).params).toEqual({ date: '2026-11-20' })
    for (const target of ['/v1/2026-11-20', '/v1/2026-1-20..', '/v2/2026-11-20..']) {
      const header = (): undefined => undefined
      const { status, matched } = await handler.answer({ method: 'GET', target, header })
      expect([status, matched], target).toEqual([404, false])
    }
  })

  it('is below the root, not below the base path, and leaves the endpoints as they are', async () => {
    const routes = [{ path: '/*', get: () => new Response('mine') }]
    expect(() => open(routes)).toThrow(
      new TypeError('a route must not match an endpoint: /* matches /api/v1'),
    )
    const { send } = open([{ path: '/v1/latest', get: () => new Response('mine') }])
    expect((await send('/v1/latest')).text).toBe('mine')
    expect(JSON.parse((await send('/api/v1/latest')).text).base).toBe('USD')
  })

  it('is found next to a base path with characters that patterns read', async () => {
    const routes = [{ path: '/api/v2', get: () => new Response('mine') }]
    const { send } = open(routes, { basePath: '/a.p*i' })
    expect((await send('/a.p*i/v1/status')).status).toBe(200)
    expect((await send('/axpppi/v1/status')).status).toBe(404)
    expect((await send('/api/v2')).text).toBe('mine')
  })

  it('has HEAD and OPTIONS, and refuses other methods', async () => {
    const { send } = open([
      { path: '/both', get: echo, post: echo },
      { path: '/read', get: echo },
      { path: '/write', post: echo },
    ])
    const allowed = async (path: string, method: string) => {
      const { status, headers, text } = await send(path, { method })
      return [status, headers.get('allow'), text.length > 0]
    }
    expect(await allowed('/both', 'OPTIONS')).toEqual([204, 'GET, HEAD, OPTIONS, POST', false])
    expect(await allowed('/read', 'HEAD')).toEqual([200, null, false])
    expect(await allowed('/read', 'POST')).toEqual([405, 'GET, HEAD, OPTIONS', true])
    expect(await allowed('/write', 'GET')).toEqual([405, 'OPTIONS, POST', true])
  })

  it.each([
    ['an object', () => ({ a: 1 })],
    ['a response', () => new Response('a', { headers: { 'cache-control': 'max-age=60' } })],
  ])('has an entity tag and 304 for %s', async (_, get) => {
    const { send } = open([{ path: '/a', get }])
    const first = await send('/a')
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('cache-control')).toContain('max-age=60')
    expect((await send('/a', { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await send('/a', { headers: { 'if-match': '"other"' } })).status).toBe(412)
    expect((await send('/a', { method: 'HEAD' })).headers.get('etag')).toBe(etag)
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

  it('has the CORS headers of /api/v1, not those of its response, which may be from another server', async () => {
    const headers = { 'access-control-allow-origin': 'https://own.example', vary: 'Accept' }
    const routes = [{ path: '/a', get: () => new Response(null, { status: 204, headers }) }]
    const ofResponse = async (cors: 'v1' | 'off' | string[]) => {
      const init = { headers: { origin: 'https://other.example' } }
      const sent = (await open(routes, { cors }).send('/a', init)).headers
      const named = 'access-control-allow-origin access-control-allow-methods vary'.split(' ')
      return named.map((name) => sent.get(name))
    }
    expect(await ofResponse('v1')).toEqual(['*', null, 'Accept'])
    expect(await ofResponse(['https://listed.example'])).toEqual([null, null, 'Accept, Origin'])
    expect(await ofResponse('off')).toEqual(['https://own.example', null, 'Accept'])
  })

  it('has 304 for a weak entity tag', async () => {
    const get: RouteFunction = () => new Response('a', { headers: { etag: 'W/"1"' } })
    const { send } = open([{ path: '/a', get }])
    const statusOf = async (name: string, list: string) =>
      (await send('/a', { headers: { [name]: list } })).status
    expect(await statusOf('if-none-match', '"2", W/"1"')).toBe(304)
    expect(await statusOf('if-none-match', '"1"')).toBe(304)
    expect(await statusOf('if-none-match', 'W/"2"')).toBe(200)
    expect(await statusOf('if-match', 'W/"1"')).toBe(412)
  })

  it('gets the body of a POST of at most 1 MiB', async () => {
    const post: RouteFunction = async (request) => ({ length: (await request.text()).length })
    const { send } = open([{ path: '/a', post }])
    const lengthOf = async (length: number) => {
      const { status, text } = await send('/a', { method: 'POST', body: 'a'.repeat(length) })
      return [status, text]
    }
    expect(await lengthOf(3)).toEqual([200, '{"length":3}'])
    expect(await lengthOf(1_048_576)).toEqual([200, '{"length":1048576}'])
    expect((await lengthOf(1_048_577))[0]).toBe(413)
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

describe('an error of a route', () => {
  const failing = (thrown: unknown, error?: Route['error']): Route => ({
    path: '/a',
    get: () => Promise.reject(thrown),
    error,
  })
  const unknown = new RatesError('invalid_currency', 'Invalid currency: XYZ')

  it('has the form of the versioned endpoints by default', async () => {
    const { status, text } = await open([failing(unknown)]).send('/a')
    const error = { code: 'invalid_currency', message: 'Invalid currency: XYZ' }
    expect([status, JSON.parse(text)]).toEqual([400, { error }])
  })

  it('has the body and the status that the route gives it', async () => {
    const error = ({ message }: RatesError) => ({ body: { no: message }, status: 200 })
    const { status, headers, text } = await open([failing(unknown, error)]).send('/a')
    expect([status, JSON.parse(text)]).toEqual([200, { no: 'Invalid currency: XYZ' }])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('private')
      },
    ],
    ['has a status outside of HTTP', () => ({ body: {}, status: 999 })],
    ['has a status without a body', () => ({ body: {}, status: 204 })],
    ['has a fraction as the status', () => ({ body: {}, status: 200.5 })],
    ['is not JSON', () => ({ body: { big: 1n } })],
    ['is nothing as JSON', () => ({ body: { toJSON: () => undefined } })],
  ] satisfies [string, Route['error']][])(
    'is that of the versioned endpoints if the form %s',
    async (_, error) => {
      const { status, text } = await open([failing(unknown, error)]).send('/a')
      expect([status, JSON.parse(text).error.code]).toEqual([400, 'invalid_currency'])
    },
  )

  it.each<[string, RouteFunction]>([
    ['throws', () => Promise.reject(new Error('private'))],
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
    expect([status, JSON.parse(text).error]).toEqual([
      500,
      { code: 'internal_error', message: 'Internal error' },
    ])
    expect(events.filter(({ type }) => type === 'internal_error')).toHaveLength(1)
  })
})

describe('the keys and limits of a handler', () => {
  function openCounting(routes: Routes) {
    const costs: [admitted: number, real: number][] = []
    const access: Access = {
      createGuard: () => ({
        admit: ({ cost }) => ({
          refusal: undefined,
          finish(response, real) {
            costs.push([cost, real])
            return response
          },
        }),
        close() {},
      }),
    }
    return { costs, ...open(routes, { access }) }
  }

  it('hold for routes, by their cost', async () => {
    const { costs, send } = openCounting([
      { path: '/default', get: echo },
      { path: '/free', get: echo, cost: 0 },
      { path: '/four', get: echo, cost: 4 },
      { path: '/by/:count', get: echo, cost: ({ params }) => Number(params['count']) },
    ])
    for (const path of ['/default', '/free', '/four', '/by/3', '/by/2.1', '/by/100', '/unknown'])
      await send(path)
    expect(costs.map(([admitted]) => admitted)).toEqual([1, 4, 3, 3, 10])
  })

  it('take the most if the cost cannot be computed', async () => {
    const get: RouteFunction = () => ({})
    const cost = (): number => {
      throw new Error('private')
    }
    const { costs, send } = openCounting([
      { path: '/throws', get, cost },
      { path: '/not-a-number', get, cost: () => NaN },
      { path: '/negative', get, cost: () => -0.5 },
      { path: '/null', get, cost: () => JSON.parse('null') },
    ])
    for (const path of ['/throws', '/not-a-number', '/negative', '/null'])
      expect((await send(path)).status).toBe(200)
    expect(costs.map(([admitted]) => admitted)).toEqual([10, 10, 10, 10])
  })

  it('take the whole cost of a 304 and of an internal error, and 1 for an invalid request', async () => {
    const { costs, send } = openCounting([
      { path: '/broken', get: () => Promise.reject(new Error('private')), cost: 3 },
      { path: '/a', get: echo, cost: 5 },
      {
        path: '/invalid',
        get: () => Promise.reject(new RatesError('invalid_parameter', 'Invalid')),
        cost: 5,
      },
    ])
    await send('/a', { headers: { 'if-none-match': '*' } })
    await send('/invalid')
    await send('/broken')
    expect(costs).toEqual([
      [5, 5],
      [5, 1],
      [3, 3],
    ])
  })
})

describe('the option routes', () => {
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
  ])('refuses %j', (routes, message) => {
    // @ts-expect-error invalid routes
    expect(() => open(routes)).toThrow(new TypeError(message))
  })
})
