import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createExchangeRateApiProvider, createRatesHandler } from '../src/index.ts'
import type {
  HistoryProvider,
  LatestProvider,
  LatestTable,
  RatesHandlerOptions,
} from '../src/index.ts'
import { fakeProviders } from '../src/testing/index.ts'
import { codes } from './fixtures/codes.ts'
import { NOW, market, openService } from './fixtures/service.ts'
import { openErApiPayload } from './fixtures/upstream-payloads.ts'
import { DAY, SECOND, settled } from './virtual-runtime.ts'
import { wholeBody } from './whole-body.ts'

const attribution = { name: 'Test', url: 'https://rates.example' }

interface ServiceOptions extends RatesHandlerOptions {
  latest?: LatestProvider | LatestProvider[] | LatestProvider['fetchLatest']
  history?: HistoryProvider
}

/** Opens a service with these providers (default: the synthetic market). */
function service({
  latest = market.latest,
  history = market.history,
  ...options
}: ServiceOptions = {}) {
  const given = typeof latest === 'function' ? latestProvider(latest) : latest
  return openService({ providers: { latest: given, history }, ...options })
}

/** Returns a table of two currencies, published at `updatedAt`; 1 USD = `rate` EUR. */
function table(rate = 0.5, updatedAt = NOW - 1_000): LatestTable {
  return { base: 'USD', updatedAt, nextUpdateAt: updatedAt + DAY, rates: { USD: 1, EUR: rate } }
}

function latestProvider(
  fetchLatest: LatestProvider['fetchLatest'],
  source = attribution,
): LatestProvider {
  return { attribution: source, fetchLatest }
}

const fail = (): Promise<never> => Promise.reject(new Error('secret-upstream-text'))

/** An error that throws when it is read. */
const unreadable = Object.defineProperty(new Error(), 'message', {
  get: () => expect.unreachable(),
})

function circular(): Error {
  const error = new Error('round')
  error.cause = error
  return error
}

describe('createRatesHandler()', () => {
  it('is its own fetch and takes one argument', () => {
    const { handler } = service()
    expect(handler.fetch).toBe(handler)
    expect(handler).toHaveLength(1)
  })

  it.each<unknown>([
    null,
    '/api',
    ...['api', '/', '/api/', '//api', '/a/../b', '/a?b', '/a b', null].map((basePath) => ({
      basePath,
    })),
    { providers: null },
    { providers: latestProvider(async () => table()) },
    { providers: { latest: {} } },
    { providers: { latest: [] } },
    { providers: { latest: { attribution, fetchHistory() {} } } },
    { providers: { latest: { ...latestProvider(async () => table()), validateStored: true } } },
    { providers: { history: { fetchHistory() {} } } },
    { providers: { history: { attribution: { name: 'Test' }, fetchHistory() {} } } },
    { store: { get() {} } },
    { store: { get() {}, set() {}, claim: true } },
    { fetch: 'fetch' },
    { now: 0 },
    { maxStale: 86_400_000 },
    { maxStale: { latest: -1 } },
    { waitUntil: true },
    { onEvent: {} },
    { providers: { latest: true } },
    { providers: { latest: false, history: false } },
  ])('throws for the options %j', (options) => {
    // @ts-expect-error invalid options
    expect(() => createRatesHandler(options)).toThrow(TypeError)
  })

  it('fetches with the global fetch of the time of the call', async () => {
    const handler = createRatesHandler()
    const fetch = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed'))
    onTestFinished(() => fetch.mockRestore())
    await handler.refresh()
    expect(fetch).toHaveBeenCalled()
  })

  it.each(['', '/about', ' javascript:alert(1)'])(
    'names the option with the invalid URL %j',
    (url) => {
      const bad = latestProvider(async () => table(), { name: 'Test', url })
      const make = (latest: LatestProvider[] | LatestProvider) => () =>
        createRatesHandler({ providers: { latest } })
      const message = '.attribution.url must be an absolute http or https URL, got "'
      expect(make(bad)).toThrow(`providers.latest${message}`)
      expect(make([latestProvider(fail), bad])).toThrow(`providers.latest[1]${message}`)
      const history = { ...fakeProviders().history, terms: url }
      expect(() => createRatesHandler({ providers: { history } })).toThrow(
        'providers.history.terms must be an absolute http or https URL, got "',
      )
    },
  )

  it('takes an explicit undefined as the default of an option', async () => {
    const options = { basePath: undefined, store: undefined, cors: undefined, maxStale: {} }
    expect((await service(options).get('/api/v1/latest')).status).toBe(200)
  })
})

describe('the headers', () => {
  it('mark data as stale one ms after they are due', async () => {
    let isUp = true
    const { handler, cacheStatus, runtime } = service({
      latest: async () => (isUp ? table(0.5, NOW) : fail()),
    })
    await handler.rates.latest()
    isUp = false
    const [, ttl] = /^rates; hit; ttl=(\d+)$/.exec((await cacheStatus('/api/rates')) ?? '') ?? []
    await runtime.advance(Number(ttl) * SECOND)
    expect(await cacheStatus('/api/rates')).toBe('rates; hit; ttl=0')
    await runtime.advance(1)
    expect(await cacheStatus('/api/rates')).toBe('rates; hit; ttl=-1; detail=stale')
  })

  it('keep the ETag when a refresh returns the same publication', async () => {
    const { get, runtime } = service({ latest: async () => table() })
    const tag = (await get('/api/v1/latest')).headers.get('etag')
    await runtime.advance(1.5 * DAY)
    await get('/api/v1/latest')
    await settled()
    const again = await get('/api/v1/latest')
    expect(again.headers.get('cache-status')).not.toContain('stale')
    expect(again.headers.get('etag')).toBe(tag)
  })
})

describe('upstream calls', () => {
  it('receive the last accepted table for comparison', async () => {
    const previous: (LatestTable | undefined)[] = []
    const { get, runtime } = service({
      async latest(context) {
        previous.push(context.previous)
        return table(0.5, runtime.now())
      },
    })
    await get('/api/rates')
    await runtime.advance(2 * DAY)
    await get('/api/rates')
    await settled()
    expect(previous).toEqual([undefined, { ...table(0.5, NOW), publishedAt: NOW }])
  })

  it('use the fetch option, without a receiver', async () => {
    const urls: string[] = []
    const { get } = service({
      providers: {},
      async fetch(this: unknown, input) {
        if (this !== undefined) throw new TypeError('Illegal invocation')
        urls.push(String(input instanceof Request ? input.url : input))
        return new Response('{}', { status: 503 })
      },
    })
    await get('/api/rates')
    await get('/api/v1/history?from=USD&to=EUR')
    expect(urls).toEqual([
      'https://open.er-api.com/v6/latest/USD',
      'https://api.frankfurter.dev/v1/2021-11-06..2026-11-20',
      'https://api.frankfurter.dev/v2/rates?providers=ECB&from=2021-11-06&to=2026-11-04',
      'https://api.frankfurter.dev/v2/rates?providers=ECB&from=2026-11-05&to=2026-11-20',
      'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.zip',
    ])
  })
})

describe('a failing upstream', () => {
  it('is aborted after 5 s for latest rates and 10 s for history, even if it ignores its signal', async () => {
    const signals: AbortSignal[] = []
    const hang = (context: { signal: AbortSignal }): Promise<never> => {
      signals.push(context.signal)
      return new Promise(() => {})
    }
    const { get, runtime, eventsOf } = service({
      latest: hang,
      history: { attribution, fetchHistory: (_range, context) => hang(context) },
    })
    const responses = [get('/api/rates'), get('/api/v1/history?from=USD&to=EUR')]
    await runtime.advance(5 * SECOND)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([502, 502])
    await runtime.advance(5 * SECOND)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    expect(eventsOf('upstream_failed')).toHaveLength(2)
    expect(runtime.timers()).toBe(0)
  })

  it.each([
    ['text', 'text'],
    ['thrown value is not an Error: undefined', undefined],
    ['thrown value is not an Error: object', null],
    ['thrown value is not an Error: number', 0],
    ['thrown value is not an Error: symbol', Symbol('s')],
    ['thrown value is not an Error: object', Object.create(null)],
    ['outer: inner', new Error('outer', { cause: new Error('inner') })],
    ['outer', new Error('outer', { cause: 'inner' })],
    ['round: round: round: round: round', circular()],
    [
      'theirs: a syntax error in a parsed text',
      new Error('theirs', { cause: new SyntaxError('x') }),
    ],
    [`${'x'.repeat(299)}…`, new Error('x'.repeat(100_000))],
    [`${'x'.repeat(298)}…`, `${'x'.repeat(298)}\u{1f4b6}x`],
    ['an error with unreadable properties', unreadable],
  ])('causes a 502, with the reason %j in its event', async (reason, thrown) => {
    const rejects = (): Promise<never> => Promise.reject(thrown)
    const throws = (): never => {
      throw thrown
    }
    for (const fetchLatest of [rejects, throws]) {
      const { get, events } = service({ latest: fetchLatest })
      expect((await get('/api/rates')).status).toBe(502)
      expect(events.at(1)).toMatchObject({ type: 'upstream_failed', reason })
    }
  })
})

describe('events', () => {
  it('report requests, responses, dropped rates and failures', async () => {
    const rates = { ...Object.fromEntries(codes(20).map((code) => [code, 1])), BAD: 0 }
    const latest = async () => ({ ...table(), rates })
    const { get, events } = service({ latest, history: { attribution, fetchHistory: fail } })
    await get('/api/rates')
    await get('/api/v1/history?from=USD&to=EUR')
    const about = { dataSet: 'latest', provider: 'Test' }
    const [dataSet, error] = ['history', expect.any(Error)]
    const failed = { dataSet, provider: 'Test', elapsed: 0, reason: 'secret-upstream-text', error }
    const reason = expect.stringContaining('Test: secret-upstream-text')
    expect(events).toEqual([
      { type: 'upstream_request', ...about },
      { type: 'rates_dropped', ...about, dropped: ['BAD'] },
      { type: 'upstream_response', ...about, elapsed: 0 },
      { type: 'refresh_scheduled', dataSet: 'latest', at: NOW - 1_000 + DAY + 30_000 },
      { type: 'rates_updated', ...about, updatedAt: NOW - 1_000, previousUpdatedAt: null },
      { type: 'upstream_request', dataSet, provider: 'Test' },
      { type: 'upstream_failed', ...failed },
      { type: 'refresh_failed', dataSet, reason, error },
      { type: 'refresh_scheduled', dataSet, at: NOW + 1_000 },
    ])
  })

  it('report unforeseen errors, which are a 500 without details', async () => {
    const { handler, events } = service()
    const header = (): never => {
      throw new Error('secret header')
    }
    const target = '/api/v1/history?from=USD&to=EUR'
    const { status, body } = await handler.answer({ method: 'GET', target, header })
    const error = { code: 'internal_error', message: 'Internal error' }
    expect([status, JSON.parse(await wholeBody(body))]).toEqual([500, { error }])
    const cause = { message: 'secret header' }
    expect(events.at(-1)).toMatchObject({ type: 'internal_error', error: cause })
  })
})

it.each([undefined, null, {}, { url: 7 }, new Proxy({}, { get: () => Object(Symbol('s')) })])(
  'a host that does not pass a request gets a 500: %#',
  async (request) => {
    // @ts-expect-error not a Request
    const response = await service().handler(request)
    expect(response.status).toBe(500)
    expect(response.headers.get('cache-control')).toBe('no-store')
  },
)

describe('a store', () => {
  it('is ignored where its data have another source', async () => {
    const store = new Map<string, string>()
    await service({ store }).handler.rates.latest()
    await settled()
    const other = service({ store, latest: async () => table() })
    expect((await other.handler.rates.latest()).source).toEqual(attribution)
    expect(other.events[0]).toMatchObject({
      type: 'rates_rejected',
      dataSet: 'latest',
      origin: 'store',
      reason: expect.stringContaining('configured providers'),
    })
  })

  it('does not have the table of one provider compared by another', async () => {
    let isUp = true
    const many = Object.fromEntries(codes(300).map((code) => [code, 1]))
    const wide = async (): Promise<LatestTable> => {
      if (!isUp) return fail()
      return { ...table(0.5, NOW), rates: { USD: 1, ...many } }
    }
    const fetch = async () => new Response(openErApiPayload({ now: NOW + 2 * DAY }))
    const latest = [latestProvider(wide), createExchangeRateApiProvider()]
    const { get, text, runtime } = service({ fetch, latest })
    expect((await get('/api/rates')).status).toBe(200)
    isUp = false
    await runtime.advance(2 * DAY)
    await get('/api/rates')
    await settled()
    expect(await text('/api/rates')).toContain('Rates By Exchange Rate API')
  })
})

describe('handler.rates', () => {
  it('rejects with an error that has private details only in its cause', async () => {
    const { handler } = service({ latest: fail })
    const error: unknown = await handler.rates.latest().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'provider_unavailable', retryAfter: 1 })
    expect(String(error)).not.toContain('secret')
    expect(Object(error).cause).toMatchObject({
      cause: { cause: { message: expect.stringContaining('secret') } },
    })
  })
})

describe.each([
  {
    off: 'history' as const,
    paths: ['v1/history?from=USD&to=EUR', 'v1/latest?date=2026-11-19'],
    works: 'v1/convert?from=USD&to=EUR',
    message: 'Not found (this service has no reference rates)',
  },
  {
    off: 'latest' as const,
    paths: ['v1/latest', 'v1/convert?from=USD&to=EUR', 'rates', 'convert?from=USD&to=EUR'],
    works: 'v1/convert?from=USD&to=EUR&date=2026-11-19',
    message: 'Not found (this service has no latest rates)',
  },
])('a service whose $off rates are turned off', ({ off, paths, works, message }) => {
  it('returns 404 with the reason on their endpoints, and rejects their operations', async () => {
    const { get, handler } = service({ providers: { ...market, [off]: false } })
    for (const path of paths) {
      const response = await get(`/api/${path}`)
      const error = path.startsWith('v1') ? { code: 'not_found', message } : 'Not found'
      expect([response.status, await response.json()], path).toEqual([404, { error }])
    }
    expect((await get(`/api/${works}`)).status).toBe(200)
    const { rates } = handler
    const call = off === 'latest' ? rates.latest() : rates.history({ from: 'USD', to: 'EUR' })
    await expect(call).rejects.toMatchObject({ code: 'not_found', message })
  })

  it('shows that in the status and the currencies, and makes no upstream calls', async () => {
    const { handler, get, json, runtime, events } = service({
      providers: { ...market, [off]: false },
      fetch: async () => expect.unreachable(),
    })
    await get('/api/v1/status')
    await handler.refresh()
    await runtime.advance(3 * DAY)
    const status = await json('/api/v1/status')
    expect([status.ready, status[off]]).toEqual([true, null])
    const { currencies } = await json('/api/v1/currencies')
    const covered = (set: string) =>
      new Set(currencies.map((each: Record<string, unknown>) => each[set]))
    expect(covered(off)).toEqual(new Set([false]))
    expect(covered(off === 'latest' ? 'history' : 'latest')).toEqual(new Set([true, false]))
    expect((await get('/api/v1/currencies')).headers.get('cache-control')).toContain('max-age=60')
    expect(events.filter((event) => 'dataSet' in event && event.dataSet === off)).toEqual([])
    expect(await handler.rates.currencies()).toEqual({ currencies })
  })
})

describe('handler.answer()', () => {
  it('returns the same response as data, and whether the path matched', async () => {
    const { handler, text } = service()
    const request = (target: string, method = 'GET') =>
      handler.answer({ method, target, header: () => null })
    const body = await text('/api/v1/convert?from=USD&to=EUR')
    const raw = await request('/api/v1/convert?from=USD&to=EUR')
    expect(raw).toMatchObject({ status: 200, matched: true, body })
    expect(await request('/api/users')).toMatchObject({ status: 404, matched: false })
    expect(await request('/api/rates', 'POST')).toMatchObject({ status: 405, matched: true })
    const unknown = await request('/api/v1/none', 'OPTIONS')
    expect(unknown).toMatchObject({ status: 204, matched: false })
  })
})
