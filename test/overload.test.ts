import { describe, expect, it, onTestFinished, vi } from 'vitest'

import type { RawResponse } from '../src/index.ts'
import { DAY_MS, addDays } from './fixtures/dates.ts'
import { recordedHandler } from './fixtures/recorded-handler.ts'
import { NOW, market } from './fixtures/service.ts'
import { listenersLeftBy, settled, virtualRuntime } from './virtual-runtime.ts'

const { latest, history } = market

const loaded = new Map<string, ReturnType<typeof history.fetchHistory>>()

/** Two currencies only: all of them would take longer to load than the rest of the test. */
const fetchHistory: typeof history.fetchHistory = async (range, context) => {
  const key = JSON.stringify(range)
  const { base, days } = await (loaded.get(key) ?? history.fetchHistory(range, context))
  const pairs = days.map(({ date, rates: { USD = 1, JPY = 1 } }) => ({ date, rates: { USD, JPY } }))
  loaded.set(key, Promise.resolve({ base, days: pairs }))
  return { base, days: pairs }
}

const PAIR = '/api/v1/history?from=USD&to=JPY'
const ONE = '/api/v1/convert?from=USD&to=EUR'

const EXPENSIVE = [
  `${PAIR}&start=2004-01-01`,
  `${PAIR}&start=2004-01-01&interval=month`,
  `${PAIR}&period=5Y`,
  `${PAIR}&period=5Y&interval=month`,
  `${PAIR}&period=1Y&format=csv`,
  `${ONE}&${'_'.repeat(769 - 'from=USD&to=EUR&'.length)}`,
]
const CHEAP = [
  ONE,
  '/api/v1/latest?base=CHF&format=csv',
  '/api/v1/latest?date=2004-01-08',
  `${PAIR}&period=1Y`,
  `${PAIR}&start=2004-01-01&end=2004-12-31`,
  `${ONE}&${'_'.repeat(768 - 'from=USD&to=EUR&'.length)}`,
  `/api/v1/nothing?${'-'.repeat(800)}`,
]

/** Returns the target of an expensive request, a different one for each number. */
function large(number: number): string {
  return `${PAIR}&start=2000-01-03&end=${addDays('2004-01-01', number)}`
}

interface RequestOptions {
  method?: string
  signal?: AbortSignal
  /** Of `If-None-Match`. */
  tag?: string
  unsentBytes?: () => number
}

/**
 * Creates a handler with data, whose event loop turns in `turn`. It reads the name of its source once for each history that
 * it computes.
 */
async function start({ random = 0, isCold = false } = {}) {
  const runtime = virtualRuntime(NOW, random)
  const work = { count: 0 }
  const attribution = {
    get name() {
      work.count += 1
      return 'Slow'
    },
    url: 'https://slow.example',
  }
  const turns: (() => void)[] = []
  const slow = {
    ...runtime,
    yieldToEventLoop: () => new Promise<void>((resolve) => void turns.push(resolve)),
  }
  const providers = { latest, history: { attribution, fetchHistory } }
  const { handler, events } = recordedHandler(slow, { providers })
  const { answer, refresh } = handler
  /** Turns the event loop (default once). */
  async function turn(times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      for (const callback of turns.splice(0)) callback()
      await settled()
    }
  }
  const request = async (target: string, options: RequestOptions = {}) => {
    const { method = 'GET', signal, tag, unsentBytes } = options
    const header = (name: string) => (name === 'if-none-match' ? tag : undefined)
    return answer({ method, target, header, signal, ...(unsentBytes && { unsentBytes }) })
  }
  /** Returns the responses to `targets` so far, in order. */
  async function requestAll(targets: string[], options?: RequestOptions): Promise<RawResponse[]> {
    const responses: RawResponse[] = []
    for (const target of targets) {
      void request(target, options).then((response) => responses.push(response))
    }
    await settled()
    return responses
  }
  // Some modules are loaded by the first request that needs them.
  const first = [`${EXPENSIVE[0]}&format=csv`, `${ONE}&date=2004-01-08`, ...CHEAP]
  for (const target of isCold ? [] : first) {
    const wait = { isOver: false }
    void request(target).then(() => (wait.isOver = true))
    while (!wait.isOver) await turn()
    await turn()
  }
  work.count = 0
  return { runtime, work, events, refresh, turn, request, requestAll }
}

function header(response: RawResponse | undefined, wanted: string): string | undefined {
  return response?.headers.find(([name]) => name === wanted)?.[1]
}

describe('expensive work', () => {
  it.each(EXPENSIVE)('waits for another turn of the event loop: %s', async (target) => {
    const { request, requestAll, turn } = await start()
    await request(large(0))
    const responses = await requestAll([target])
    expect(responses).toEqual([])
    await turn()
    expect(responses).toMatchObject([{ status: 200 }])
  })

  it('does not delay cheap requests and cached responses', async () => {
    const { request, requestAll, turn } = await start()
    await request(large(0))
    await turn()
    await requestAll([large(1), large(2)])
    expect(await requestAll([...CHEAP, large(0)])).toHaveLength(CHEAP.length + 1)
  })

  it.each<[RequestOptions, number]>([
    [{ method: 'HEAD' }, 200],
    [{ tag: '*' }, 304],
  ])('waits also for %j', async (options, status) => {
    const { requestAll, turn } = await start()
    const responses = await requestAll([large(0), large(1)], options)
    expect(responses).toHaveLength(1)
    await turn()
    const bodiless = { status, body: null }
    expect(responses.map(({ status, body }) => ({ status, body }))).toEqual([bodiless, bodiless])
  })

  it('is done once for all identical requests', async () => {
    const { requestAll, turn, work } = await start()
    const responses = await requestAll([large(0), large(1), `${large(1)}&_=1`, large(1)])
    await turn()
    expect(new Set(responses.map(({ body }) => body)).size).toBe(2)
    expect(responses).toHaveLength(4)
    expect(work.count).toBe(2)
  })

  it('is not cached where newer data arrive meanwhile', async () => {
    const { request, requestAll, runtime, refresh, turn } = await start()
    const target = `${PAIR}&period=5Y`
    const responses = await requestAll([target.replace('USD', 'EUR'), target])
    runtime.setClock(NOW + DAY_MS)
    await refresh()
    await request(`${PAIR}&period=1Y`)
    await turn(12)
    const again = await request(target)
    expect(again.body).toEqual(responses[1]?.body)
    expect(again.body).not.toBe(responses[1]?.body)
  })

  it('is skipped where every client has aborted', async () => {
    const { request, requestAll, turn, work, runtime, events } = await start()
    const listeners = await listenersLeftBy(async () => {
      const [leaving, alsoLeaving] = [new AbortController(), new AbortController()]
      await requestAll([large(0)])
      const gone = await requestAll([large(1), large(2)], leaving)
      await requestAll([large(1)], alsoLeaving)
      const responses = await requestAll([large(2), large(3)])
      leaving.abort()
      alsoLeaving.abort()
      await turn(18)
      expect(responses.map(({ status }) => status)).toEqual([200, 200])
      expect(gone).toHaveLength(2)
      await request(large(4), { signal: AbortSignal.abort() })
    })
    expect(work.count).toBe(3)
    expect([listeners, runtime.timers(), events.length]).toEqual([0, 0, events.length])
    expect(events.map(({ type }) => type)).not.toContain('overloaded')
  })

  it('continues where the event loop never turns', async () => {
    const { requestAll, runtime } = await start()
    const responses = await requestAll([large(0), large(1)])
    await runtime.advance(1_001)
    await requestAll([large(2)])
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
  })

  it('is not limited on Cloudflare Workers, whose timers end with their request', async () => {
    onTestFinished(() => void vi.unstubAllGlobals())
    const { requestAll } = await start()
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
    expect(await requestAll([large(0), large(1), large(2)])).toHaveLength(3)
  })
})

describe('bodies that wait for their clients to read', () => {
  const MOST = 256 * 1_048_576
  const LARGE = EXPENSIVE.slice(0, -1)
  const LONG_QUERY = EXPENSIVE.slice(-1)

  it('of more than 256 MiB let large bodies get a 503, but not small and cached ones', async () => {
    const { request, requestAll, turn, events } = await start()
    const cached = await request(large(0))
    await turn()
    const full = { unsentBytes: () => MOST + 1 }
    const refused = await requestAll(LARGE, full)
    await turn(LARGE.length)
    expect(refused.map(({ status }) => status)).toEqual(LARGE.map(() => 503))
    expect(refused.map((response) => header(response, 'retry-after'))).toEqual(LARGE.map(() => '1'))
    expect(events.filter(({ type }) => type === 'overloaded')).toHaveLength(LARGE.length)
    const sent = await requestAll([...CHEAP, ...LONG_QUERY], full)
    expect(sent).toHaveLength(CHEAP.length + 1)
    expect(sent.filter(({ status }) => status === 503)).toEqual([])
    expect((await request(large(0), full)).body).toBe(cached.body)
  })

  it('are counted when a waiting job starts', async () => {
    const { requestAll, turn, work } = await start()
    let unsent = MOST
    const responses = await requestAll([large(0), large(1)], { unsentBytes: () => unsent })
    unsent += 1
    await turn()
    expect(responses.map(({ status }) => status)).toEqual([200, 503])
    expect(work.count).toBe(1)
  })
})

describe('a 503', () => {
  const MESSAGE = 'The server is overloaded. Please retry shortly.'

  it.each([
    [0, '1'],
    [0.99, '5'],
  ])('is returned at once where 1,000 requests wait: random %d', async (random, retryAfter) => {
    const { request, requestAll, events } = await start({ random })
    await requestAll(Array.from({ length: 1_001 }, (_, index) => large(index)))
    const refused = await request(large(1_001))
    expect(refused).toMatchObject({ status: 503, matched: true })
    expect(refused.body).toBe(JSON.stringify({ error: { code: 'overloaded', message: MESSAGE } }))
    expect(header(refused, 'retry-after')).toBe(retryAfter)
    expect(header(refused, 'cache-control')).toBe('no-store')
    expect(header(refused, 'access-control-allow-origin')).toBe('*')
    expect(await request(large(1_001), { method: 'HEAD' })).toEqual({ ...refused, body: null })
    const unversioned = await request((EXPENSIVE.at(-1) ?? '').replace('/v1', ''))
    expect(unversioned).toMatchObject({ status: 503, body: JSON.stringify({ error: MESSAGE }) })
    const event = { type: 'overloaded', waiting: 1_000 }
    expect(events.slice(-3)).toEqual([event, event, event])
    // Requests identical to waiting ones are still accepted, and so are cheap ones.
    expect(await requestAll([large(1_000), large(0), ...CHEAP])).toHaveLength(CHEAP.length + 1)
  })

  it('is returned after half a second where the request has waited for data', async () => {
    const { requestAll, runtime, turn } = await start({ isCold: true })
    const responses = await requestAll([large(0), large(1), large(2)])
    // All days are loaded in several turns.
    await vi.waitFor(async () => {
      if (responses.length === 0) await turn()
      expect(responses).toHaveLength(1)
    })
    await runtime.advance(499)
    expect(responses).toHaveLength(1)
    await runtime.advance(1)
    expect(responses.map(({ status }) => status)).toEqual([200, 503, 503])
  })
})
