import { beforeAll, describe, expect, it } from 'vitest'

import { yieldToEventLoop } from '../../src/async.ts'
import { fixer } from '../../src/compat/fixer.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { providersThat } from '../advisories/loaded-handler.ts'
import { NOW, openMarket } from '../fixtures/hand-written-market.ts'
import { SERVICES } from './services.ts'

const now = () => NOW

const ALL = SERVICES.map(({ routes }) => routes())

function request(handler: RatesHandler, path: string, init?: RequestInit): Promise<Response> {
  return handler(new Request(`http://localhost${path}`, init))
}

describe('the routes of all services', () => {
  const { handler: own } = openMarket()
  const { handler } = openMarket({ routes: ALL })

  it.each(SERVICES)('serve $path with the headers of the API', async ({ path }) => {
    const served = await request(handler, path)
    expect(served.status).toBe(200)
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringMatching(/^public, max-age=60,/),
      'access-control-allow-origin': '*',
      etag: expect.any(String),
    })
  })

  it.each(
    `/ /about /nothing /v1 /v1/rates /v1/2026-11 /v1/x2026-11-20 /v1/2026-11-20..x /2026-11-20x
    /api/nothing.json /api/convert/1/EUR /api/v1/latest /api/v1/openapi.json /api/rates /api/convert?from=EUR&to=USD`.split(
      /\s+/,
    ),
  )('leave %s to the handler', async (path) => {
    const [expected, through] = [await request(own, path), await request(handler, path)]
    expect(through.status).toBe(expected.status)
    expect(await through.text()).toBe(await expected.text())
    const isMatched = async ({ answer }: RatesHandler) =>
      (await answer({ method: 'GET', target: path, header: () => undefined })).matched
    expect(await isMatched(handler)).toBe(await isMatched(own))
  })

  it('serve a path of two services in the form of the first', async () => {
    const formOf = async (routes: (typeof ALL)[number][]) => {
      const { handler: mounted } = openMarket({ routes })
      const bodies = ['/latest', '/2026-11-20'].map(async (path) =>
        Object(await (await request(mounted, path)).json()),
      )
      return (await Promise.all(bodies)).map(({ success, amount }) => ({ success, amount }))
    }
    const [ofFrankfurter, ofFixer] = [{ amount: 1 }, { success: true }]
    expect(await formOf([frankfurter(), fixer()])).toEqual([ofFrankfurter, ofFrankfurter])
    expect(await formOf([fixer(), frankfurter()])).toEqual([ofFixer, ofFixer])
  })
})

describe.each(SERVICES)('the routes with $path', ({ routes, path, list, error }) => {
  it('have a form for errors', async () => {
    const { handler } = openMarket({ routes: routes() })
    for (const [status, init] of [
      [405, { method: 'POST', body: '{}' }],
      [412, { headers: { 'if-match': '"other"' } }],
    ] as const) {
      const response = await request(handler, path, init)
      expect(response.status).toBe(status)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await response.json()).toEqual(error(status))
    }
  })

  it('have that form without rates', async () => {
    const providers = providersThat(() => Promise.reject(new Error('secret')))
    const failing = createRatesHandler({ providers, now, routes: routes() })
    for (const target of [path, list]) {
      const response = await request(failing, target)
      expect(response.status).toBe(502)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await response.json()).toEqual(error(502))
    }
  })

  it('are below basePath', async () => {
    const { handler } = openMarket({ routes: routes({ basePath: '/old/api' }) })
    expect((await request(handler, `/old/api${path}`)).status).toBe(200)
    for (const target of [path, '/old/api', '/old/apis/nothing', '/old/api/nothing']) {
      expect(JSON.stringify(await (await request(handler, target)).json())).toMatch(/Not found/)
    }
  })

  it.each<[name: string, options: unknown, message: string]>([
    ['null', null, 'options must be an object'],
    ['dots', { basePath: '/x/../y' }, "basePath must be '' or"],
    ['a slash', { basePath: '/x/' }, "basePath must be '' or"],
    ['a pattern', { basePath: '/:x' }, 'basePath must have letters'],
    ['a clock', { now: () => 1 }, 'unknown option "now"'],
    ['a handler', openMarket().handler, 'options must be an object'],
  ])('cannot have %s as option', (_name, options, message) => {
    // @ts-expect-error it accepts some options only
    const call = () => routes(options)
    expect(call).toThrow(TypeError)
    expect(call).toThrow(message)
  })
})

describe.each(['latest', 'history'] as const)('a handler without %s rates', (off) => {
  const providers = { ...fakeProviders({ now }), [off]: false }
  const handler = createRatesHandler({ providers, now, routes: ALL })
  const [ofFrankfurter, ofFixer, ofOpenExchangeRates] = SERVICES

  it.each([
    ['history', '/v1/latest', ofFrankfurter],
    ['history', '/v1/2026-11-02..', ofFrankfurter],
    ['latest', '/live', ofFixer],
    ['latest', '/api/latest.json', ofOpenExchangeRates],
    ['history', '/api/historical/2020-01-02.json', ofOpenExchangeRates],
  ])('serves the paths that need no %s rates: %s', async (needed, path, service) => {
    const response = await request(handler, path)
    const anything: unknown = expect.anything()
    const expected = needed === off ? [404, service?.error(404)] : [200, anything]
    expect([response.status, await response.json()]).toEqual(expected)
  })
})

const KEY = 'k3y0123456789abcdef'

it.each([
  ...SERVICES.flatMap(({ path }) => [`${path}?app_id=${KEY}`, `${path}?access_key=${KEY}`]),
  `/convert?from=EUR&to=USD&amount=x&access_key=${KEY}&access_key=${KEY}`,
  `/api/historical/x.json?app_id=${KEY}`,
])('a key in a URL is in no response or event: %s', async (path) => {
  const events: RatesEvent[] = []
  const { handler } = openMarket({ routes: ALL, onEvent: (event) => events.push(event) })
  const response = await request(handler, path)
  const sent = [...response.headers].join() + (await response.text()) + JSON.stringify(events)
  expect(sent).not.toContain(KEY)
})

describe('all reference rates since 1999', () => {
  const handler = createRatesHandler({ providers: fakeProviders({ now }), now, routes: ALL })

  beforeAll(async () => {
    await request(handler, '/v1/1999-01-04')
  })

  it.each([
    '/v1/1999-01-04..2026-11-20',
    '/change?start_date=1999-01-04&end_date=2026-11-20',
    '/api/time-series.json?start=1999-01-04&end=2026-11-20',
  ])('are read in slices, between which other requests are served: %s', async (path) => {
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

  it('have the numbers of a history', async () => {
    const { rates } = Object(
      await (await request(handler, '/v1/1999-01-04..2026-11-20?base=USD')).json(),
    )
    const to = 'JPY'
    const { points } = await handler.rates.history({ from: 'USD', to, start: '1999-01-04' })
    const column = Object.entries(rates).map(([d, byCode]) => ({ d, r: Object(byCode)[to] }))
    expect(column.filter(({ r }) => r !== undefined)).toEqual(points)
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
})
