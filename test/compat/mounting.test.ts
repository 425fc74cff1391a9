import { beforeAll, describe, expect, it } from 'vitest'

import { yieldToEventLoop } from '../../src/async.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { providersThat } from '../advisories/loaded-handler.ts'
import { NOW, openMarket } from '../fixtures/hand-written-market.ts'
import { SERVICES } from './services.ts'

const now = () => NOW

function mountAll(handler: RatesHandler, options = {}): RatesHandler {
  return SERVICES.reduce((mounted, { mount }) => mount(mounted, { now, ...options }), handler)
}

function request(handler: RatesHandler, path: string, init?: RequestInit): Promise<Response> {
  return handler(new Request(`http://localhost${path}`, init))
}

describe('nested routes', () => {
  const market = openMarket()
  const handler = mountAll(market.handler)

  it.each(SERVICES)('serve $path and $unknown in the form of the service', async (service) => {
    const { path, unknown, error } = service
    const served = await request(handler, path)
    expect(served.status).toBe(200)
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringMatching(/^public, max-age=60,/),
      'access-control-allow-origin': '*',
    })
    if (!unknown) return
    const missing = await request(handler, unknown)
    expect(missing.status).toBe(404)
    expect(missing.headers.get('cache-control')).toBe('no-store')
    expect(await missing.json()).toEqual(error(404))
  })

  it.each('/api/v1/latest /api/v1/openapi.json /api/rates /api/nothing /nothing /'.split(' '))(
    'let the handler serve %s',
    async (path) => {
      const [own, through] = [await request(market.handler, path), await request(handler, path)]
      expect(through.status).toBe(own.status)
      expect(await through.text()).toBe(await own.text())
    },
  )

  it('set `matched` for the paths that they serve', async () => {
    const isMatched = async (target: string, method = 'GET') =>
      (await handler.answer({ method, target, header: () => undefined })).matched
    for (const { path, unknown = '/nothing' } of SERVICES) {
      expect(await isMatched(path)).toBe(true)
      expect(await isMatched(path, 'POST')).toBe(true)
      expect(await isMatched(unknown)).toBe(false)
    }
    expect(await isMatched('/api/v1/status')).toBe(true)
  })

  it('share no path', async () => {
    const reversed = SERVICES.toReversed().reduce(
      (mounted, { mount }) => mount(mounted, { now }),
      market.handler,
    )
    const others = ['/latest', '/currencies', '/2026-11-20', '/convert?from=USD&to=EUR', '/list']
    for (const path of [...SERVICES.map((service) => service.path), ...others]) {
      const [one, other] = [await request(handler, path), await request(reversed, path)]
      expect(one.status).toBe(200)
      expect(await other.text()).toBe(await one.text())
    }
  })

  it('have the members of the handler', () => {
    for (const member of ['rates', 'refresh', 'close'] as const) {
      expect(handler[member]).toBe(market.handler[member])
    }
    expect(handler.fetch).toBe(handler)
  })
})

describe.each(SERVICES)('the route of $path', ({ mount, path, unknown, error }) => {
  const handler = mount(openMarket().handler, { now })

  it('responds to HEAD like GET without a body', async () => {
    for (const target of [path, unknown ?? path]) {
      const get = await request(handler, target)
      const head = await request(handler, target, { method: 'HEAD' })
      expect(head.status).toBe(get.status)
      expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers))
      expect(await head.text()).toBe('')
    }
  })

  it('responds to a preflight, and with 405 to other methods', async () => {
    const preflight = await request(handler, path, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS')
    const refused = await request(handler, path, { method: 'POST', body: '{}' })
    expect(refused.status).toBe(405)
    expect(refused.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(await refused.json()).toEqual(error(405))
  })

  it('supports conditional requests', async () => {
    const etag = (await request(handler, path)).headers.get('etag') ?? ''
    expect((await request(handler, path, { headers: { 'if-none-match': etag } })).status).toBe(304)
    const failed = await request(handler, path, { headers: { 'if-match': '"other"' } })
    expect(failed.status).toBe(412)
    expect(await failed.json()).toEqual(error(412))
  })

  it('responds in the form of the service without rates', async () => {
    const providers = providersThat(() => Promise.reject(new Error('secret')))
    const failing = mount(createRatesHandler({ providers, now }), { now })
    const lists = ['/v1/currencies', '/list', '/api/currencies.json']
    for (const target of [path, ...lists.filter((list) => list.startsWith(path.slice(0, 3)))]) {
      const response = await request(failing, target)
      expect(response.status).toBe(502)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await response.json()).toEqual(error(502))
    }
  })

  it('responds in the form of the service after an unexpected exception, and emits internal_error', async () => {
    const events: RatesEvent[] = []
    const failure = new Error('secret')
    const rates = { latest: () => Promise.reject(failure) }
    const broken = mount(Object.assign(createRatesHandler({ now }), { rates }), {
      now,
      onEvent: (event) => void events.push(event),
    })
    const response = await request(broken, path)
    expect(response.status).toBe(500)
    const body = await response.json()
    expect(body).toEqual(error(500))
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(events).toEqual([{ type: 'internal_error', error: failure }])
  })

  it('owns every path below basePath', async () => {
    const below = mount(openMarket().handler, { now, basePath: '/old/api' })
    expect((await request(below, `/old/api${path}`)).status).toBe(200)
    const missing = await request(below, '/old/api/nothing')
    expect(missing.status).toBe(404)
    expect(await missing.json()).toEqual(error(404))
    for (const target of [path, '/old/api', '/old/apis/nothing']) {
      expect(JSON.stringify(await (await request(below, target)).json())).toMatch(/Not found/)
    }
  })

  it.each<[name: string, options: unknown, message: string]>([
    ['null', null, 'options must be an object'],
    ['base path', { basePath: '/x/../y' }, "basePath must be '' or"],
    ['cors', { cors: 'all' }, 'cors must be true or false'],
    ['clock', { now: 1 }, 'now must be a function'],
    ['hook', { onEvent: {} }, 'onEvent must be a function'],
  ])('throws a TypeError for an invalid %s', (_name, options, message) => {
    // @ts-expect-error it accepts some options only
    const call = () => mount(handler, options)
    expect(call).toThrow(TypeError)
    expect(call).toThrow(message)
  })

  it.each([undefined, {}, () => new Response()])(
    'throws a TypeError for %o as handler',
    (given) => {
      // @ts-expect-error it accepts handlers only
      expect(() => mount(given)).toThrow('handler must be')
    },
  )

  it('passes a request with an unreadable target to the handler', async () => {
    const get = () => {
      throw new TypeError('Invalid URL')
    }
    const request = { method: 'GET', target: '', header: () => undefined }
    Object.defineProperty(request, 'target', { get })
    expect((await handler.answer(request)).status).toBe(500)
  })
})

describe.each(['latest', 'history'] as const)('a handler without %s rates', (off) => {
  const providers = { ...fakeProviders({ now }), [off]: false }
  const handler = mountAll(createRatesHandler({ providers, now }))
  const [frankfurter, host, openExchangeRates] = SERVICES

  it.each([
    ['history', '/v1/latest', frankfurter],
    ['history', '/v1/2026-11-02..', frankfurter],
    ['latest', '/live', host],
    ['latest', '/api/latest.json', openExchangeRates],
    ['history', '/api/historical/2020-01-02.json', openExchangeRates],
  ])('serves the paths that need no %s rates: %s', async (needed, path, service) => {
    const response = await request(handler, path)
    const anything: unknown = expect.anything()
    const expected = needed === off ? [404, service?.error(404)] : [200, anything]
    expect([response.status, await response.json()]).toEqual(expected)
  })
})

describe('a key in a URL', () => {
  const KEY = 'k3y0123456789abcdef'
  const queries = [`app_id=${KEY}`, `access_key=${KEY}`]
  const paths = [
    ...SERVICES.flatMap(({ path, unknown = path }) => [path, unknown]).flatMap((path) =>
      queries.map((query) => `${path}?${query}`),
    ),
    `/convert?from=EUR&to=USD&amount=x&access_key=${KEY}&access_key=${KEY}`,
    `/api/historical/x.json?app_id=${KEY}`,
  ]

  it.each(paths)('is in no response or event: %s', async (path) => {
    const events: RatesEvent[] = []
    const onEvent = (event: RatesEvent) => void events.push(event)
    const options = { providers: fakeProviders({ now }), now, onEvent }
    const handler = mountAll(createRatesHandler(options), { onEvent })
    const response = await request(handler, path)
    const sent = [...response.headers].join() + (await response.text()) + JSON.stringify(events)
    expect(sent).not.toContain(KEY)
  })
})

describe('all reference rates since 1999', () => {
  const events: RatesEvent[] = []
  const options = { onEvent: (event: RatesEvent) => void events.push(event) }
  const providers = fakeProviders({ now })
  const handler = mountAll(createRatesHandler({ providers, now, ...options }), options)

  beforeAll(async () => {
    await request(handler, '/v1/1999-01-04')
  })

  it.each([
    '/v1/1999-01-04..2026-11-20',
    '/change?start_date=1999-01-04&end_date=2026-11-20',
    '/api/time-series.json?start=1999-01-04&end=2026-11-20',
  ])('are read with pauses for other requests: %s', async (path) => {
    const whole = { isDone: false }
    const responding = request(handler, path).finally(() => (whole.isDone = true))
    let others = 0
    while (!whole.isDone) {
      await request(handler, '/api/v1/convert?from=USD&to=EUR')
      await yieldToEventLoop()
      others += 1
    }
    expect((await responding).status).toBe(200)
    // At least one after each of 29 currencies.
    expect(others).toBeGreaterThan(28)
  })

  it('are computed for each query of concurrent requests', async () => {
    const bases = ['USD', 'GBP', 'JPY', 'CHF', 'SEK', 'PLN']
    const sent = bases.map((base) =>
      request(handler, `/v1/1999-01-04..2026-11-20?base=${base}&symbols=EUR`),
    )
    const bodies = await Promise.all((await Promise.all(sent)).map((response) => response.json()))
    expect(bodies.map((body) => Object(body).base)).toEqual(bases)
    expect(new Set(bodies.map((body) => JSON.stringify(Object(body).rates))).size).toBe(6)
  })

  it('are refused while 256 MiB of other responses wait for their clients to read', async () => {
    const target = '/v1/1999-01-04..2026-11-20?base=USD'
    const given = { method: 'GET', target, header: () => undefined }
    const refused = await handler.answer({ ...given, unsentBytes: () => 256 * 1_048_576 + 1 })
    expect([refused.status, refused.body]).toEqual([503, expect.stringContaining('"message"')])
    const cheap = { ...given, target: '/v1/latest', unsentBytes: () => 1e9 }
    expect(await handler.answer(cheap)).toMatchObject({ status: 200 })
    events.length = 0
  })

  it('are computed once for concurrent requests, and not for a disconnected client', async () => {
    const path = '/v1/1999-01-04..2026-11-20'
    const signal = AbortSignal.abort()
    const gone = handler.answer({ method: 'GET', target: path, header: () => undefined, signal })
    const waiting = await Promise.all(Array.from({ length: 99 }, () => request(handler, path)))
    expect((await gone).status).toBe(503)
    const etags = new Set(waiting.map(({ headers }) => headers.get('etag')))
    expect(etags.size).toBe(1)
    expect(new Set(waiting.map(({ status }) => status))).toEqual(new Set([200]))
    expect(events.filter(({ type }) => type === 'overloaded')).toEqual([])
  })
})
