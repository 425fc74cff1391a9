import { readFileSync } from 'node:fs'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { failingProvider, fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { FailingProviderOptions, FailureKind } from '../../src/testing/index.ts'
import { passTimeFor } from './virtual-time.ts'

const SECOND = 1_000
const DAY = 86_400 * SECOND

/** Longer than the timeout of a call for history, in ms. */
const CALL_OVER = 11_000

const PATHS = { latest: 'latest', history: 'history?from=EUR&to=USD&period=1M' }

const SOON = ['1', '2']

/**
 * Of each kind: the status without rates, possible values of `Retry-After`, the event, the delay of the first retry in s, and the
 * factor of its largest random part; a request without rates waits 5 s for `timeout`, and otherwise not.
 */
const KINDS: Record<FailureKind, readonly [number, (string | null)[], string, number, number]> = {
  unreachable: [502, SOON, 'upstream_failed', 1, 1.5],
  timeout: [502, ['5'], 'upstream_failed', 1, 1.5],
  'server-error': [502, ['120'], 'upstream_failed', 120, 1],
  'rate-limited': [502, ['300'], 'upstream_failed', 1_200, 1],
  unauthorized: [502, ['300'], 'upstream_failed', 900, 1],
  malformed: [502, SOON, 'rates_rejected', 1, 1.5],
  'bad-rates': [502, SOON, 'rates_rejected', 1, 1.5],
  'one-bad-rate': [200, [null], 'rates_dropped', 0, 1],
  outdated: [200, [null], '', 0, 1],
}

const isKind = (text: string): text is FailureKind => text in KINDS

const ROWS = Object.keys(KINDS)
  .filter(isKind)
  .flatMap((kind) =>
    (['latest', 'history'] as const).map((dataSet) => {
      const [status, retryAfter, event, delay, spread] = KINDS[kind]
      return { kind, dataSet, status, retryAfter, event, delay: delay * SECOND, spread }
    }),
  )

function openHandler(kind: FailureKind, options?: FailingProviderOptions) {
  const clock = fakeClock()
  const upstream = failingProvider(kind, options)
  const events: RatesEvent[] = []
  const handler = createRatesHandler({
    now: clock,
    providers: { latest: upstream, history: upstream },
    onEvent: (event) => void events.push(event),
  })
  async function request(dataSet: keyof typeof PATHS) {
    const url = `http://localhost/api/v1/${PATHS[dataSet]}`
    const response = await passTimeFor(handler(new Request(url)))
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  async function refresh() {
    void handler.refresh()
    await vi.advanceTimersByTimeAsync(CALL_OVER)
  }
  const reported = (dataSet: string, pattern: RegExp): string[] =>
    events.flatMap((event) =>
      'dataSet' in event && event.dataSet === dataSet && pattern.test(event.type) ? event.type : [],
    )
  return {
    clock,
    refresh,
    request,
    failures: (dataSet: string) => reported(dataSet, /failed|rejected|dropped/),
    calls: (dataSet: string) => reported(dataSet, /^upstream_request$/).length,
  }
}

/** With only one provider, the event of a failure is followed by `refresh_failed`. */
const failuresWith = (event: string): string[] =>
  event === '' || event === 'rates_dropped' ? [event].filter(Boolean) : [event, 'refresh_failed']

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => void vi.useRealTimers())

describe('a handler without rates, with a provider that fails', () => {
  it.each(ROWS)('responds and retries as documented: $kind, $dataSet', async (row) => {
    const { kind, dataSet, delay } = row
    const { request, failures, calls, clock } = openHandler(kind)
    const startedAt = performance.now()
    const { status, headers, body } = await request(dataSet)
    const waited = performance.now() - startedAt
    expect(status).toBe(row.status)
    expect(row.retryAfter).toContain(headers.get('retry-after'))
    expect(waited - (kind === 'timeout' ? 5_000 : 0)).toBeGreaterThanOrEqual(0)
    expect(waited - (kind === 'timeout' ? 5_000 : 0)).toBeLessThanOrEqual(200)
    expect(JSON.stringify(body)).not.toContain('upstream.example')
    // A call that hangs continues after the response.
    while (failures(dataSet).length < failuresWith(row.event).length)
      await vi.advanceTimersByTimeAsync(100)
    expect([failures(dataSet), calls(dataSet)]).toEqual([failuresWith(row.event), 1])
    const found: number[] = []
    for (const time of [delay - 1, delay * (row.spread - 1) + 1]) {
      clock.advance(Math.max(0, Math.round(time)))
      found.push((await request(dataSet)).status, calls(dataSet))
    }
    expect(found).toEqual(delay > 0 ? [502, 1, 502, 2] : [200, 1, 200, 1])
  })
})

describe('a handler with rates, with a provider that fails', () => {
  it.each(ROWS)(
    'serves stale data, and new ones once it recovers: $kind, $dataSet',
    async (row) => {
      const { kind, dataSet, event } = row
      const options = { after: 1, times: 1 }
      const { request, failures, calls, clock, refresh } = openHandler(kind, options)
      const before = await request(dataSet)
      expect(failures(dataSet)).toEqual([])
      clock.advance(DAY + 3_600 * SECOND)
      const stale = await request(dataSet)
      expect([stale.status, stale.body]).toEqual([200, before.body])
      expect(stale.headers.get('cache-status')).toContain('detail=stale')
      await refresh()
      expect(calls(dataSet)).toBe(2)
      const rejected = kind === 'outdated' && dataSet === 'latest' ? 'rates_rejected' : event
      expect(failures(dataSet)).toEqual(failuresWith(rejected))
      const after = await request(dataSet)
      expect(after.status).toBe(200)
      const isNew = JSON.stringify(after.body) !== JSON.stringify(before.body)
      expect(isNew).toBe(kind === 'one-bad-rate')
      clock.advance(DAY)
      await refresh()
      const recovered = await request(dataSet)
      expect(recovered.headers.get('cache-status')).not.toContain('stale')
      expect(recovered.body).not.toEqual(after.body)
    },
  )
})

describe('failingProvider()', () => {
  const now = fakeClock()
  const context = {
    fetch: () => Promise.reject(new Error('a failing provider needs no network')),
    signal: new AbortController().signal,
    now,
  }
  const range = { start: '2026-01-01', end: '2026-01-14' }

  it('lacks one rate, or is a week behind', async () => {
    const good = await createRatesHandler({ now, providers: fakeProviders() }).rates.latest()
    const { JPY, ...others } = good.rates
    expect(JPY).toBeGreaterThan(0)
    expect((await openHandler('one-bad-rate').request('latest')).body.rates).toEqual(others)
    const { request } = openHandler('outdated')
    expect((await request('latest')).body.updatedAt).toBe(good.updatedAt - 7 * DAY)
    expect((await request('history')).body.points.at(-1).d).toBe('2026-01-07')
  })

  it.each([
    [{}, '-----'],
    [{ after: 0, times: undefined }, '-----'],
    [{ after: 2 }, '++---'],
    [{ times: 2 }, '--+++'],
    [{ after: 1, times: 3 }, '+---+'],
    [{ after: Infinity }, '+++++'],
    [{ times: 0 }, '+++++'],
  ])(
    'with %j has calls that succeed (+) or fail (-), of each kind: %s',
    async (options, expected) => {
      const { fetchLatest, fetchHistory } = failingProvider('unreachable', options)
      const both = [() => fetchLatest(context), () => fetchHistory(range, context)]
      for (const call of both) {
        const calls = Array.from<string, Promise<object>>(expected, () => call())
        const outcomes = await Promise.allSettled(calls)
        const marks = outcomes.map(({ status }) => (status === 'fulfilled' ? '+' : '-'))
        expect(marks.join('')).toBe(expected)
      }
    },
  )

  it('rejects as fetch does, and otherwise returns the rates of other providers', async () => {
    const providers = fakeProviders({ seed: 7 })
    const { fetchLatest, fetchHistory } = failingProvider('unreachable', { after: 1, providers })
    expect(await fetchLatest(context)).toEqual(await providers.latest.fetchLatest(context))
    const days = await providers.history.fetchHistory(range, context)
    expect(await fetchHistory(range, context)).toEqual(days)
    const message = expect.stringContaining('upstream.example')
    const failure = { message, cause: expect.any(Error) }
    await expect(fetchLatest(context)).rejects.toMatchObject(failure)
    await expect(fetchHistory(range, context)).rejects.toMatchObject(failure)
  })

  it('hangs until its signal aborts, and rejects with the reason of the signal', async () => {
    const controller = new AbortController()
    const provider = failingProvider('timeout')
    const given = { ...context, signal: controller.signal }
    const call = provider.fetchLatest(given)
    const reason = new Error('over')
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await expect(provider.fetchLatest(given)).rejects.toBe(reason)
  })

  it('has a name with its kind, which the documentation has, too', () => {
    const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8')
    for (const { kind } of ROWS) expect(page).toContain(`'${kind}'`)
    expect(failingProvider('timeout').attribution.name).toBe('Failing provider (timeout)')
  })

  it.each([
    ['', {}],
    ['toString', {}],
    ['Timeout', {}],
    ['timeout', { after: -1 }],
    ['timeout', { after: 0.5 }],
    ['timeout', { times: NaN }],
    ['timeout', { times: -Infinity }],
  ])('throws for the kind %j with %j', (...given) => {
    expect(() => Reflect.apply(failingProvider, undefined, given)).toThrow(TypeError)
  })
})
