import { readFileSync } from 'node:fs'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { failingProvider, fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { FailingProviderOptions, FailureKind } from '../../src/testing/index.ts'
import { passTimeFor } from './virtual-time.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Longer than the timeout of a call for history, in ms. */
const CALL_OVER = 11_000

const PATHS = { latest: '/latest', history: '/history?from=EUR&to=USD&period=1M' }

const DATA_SETS = ['latest', 'history'] as const

/** Duration of a request without rates, in ms. The type requires every kind. */
const WAITS: Record<FailureKind, number> = {
  unreachable: 0,
  timeout: 5_000,
  'server-error': 0,
  'rate-limited': 0,
  unauthorized: 0,
  malformed: 0,
  'bad-rates': 0,
  'one-bad-rate': 0,
  outdated: 0,
}

const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8')

function isKind(text: string): text is FailureKind {
  return text in WAITS
}

function readRow(line: string) {
  const [, name = '', , response = '', event = '', delay = ''] = line
    .split('|')
    .map((cell) => cell.trim())
  const kind = name.slice(2, -2)
  if (!isKind(kind)) return []
  const [first] = /^[\d,]+(?= s$)|^\d+(?=, 2, 4)/.exec(delay) ?? []
  const retryAfter = [...response.matchAll(/(?<=`|: )\d+(?=`)/g)].map(([text]) => text)
  const row = {
    kind,
    status: Number(response.slice(0, 3)),
    /** Possible values of `Retry-After`, or `none`. */
    retryAfter: retryAfter.length > 0 ? retryAfter : ['none'],
    event: event.replaceAll('`', '') || undefined,
    /** Delay of the first retry, in ms; undefined without a failure. */
    delay: first === undefined ? undefined : Number(first.replace(',', '')) * 1_000,
    /** Factor of the largest random delay. */
    spread: delay.includes('…') ? 1.5 : 1,
  }
  return [row]
}

const ROWS = page.split('\n').flatMap(readRow)

function openHandler(kind: FailureKind, options?: FailingProviderOptions) {
  const clock = fakeClock()
  const upstream = failingProvider(kind, options)
  const events: RatesEvent[] = []
  const handler = createRatesHandler({
    now: clock,
    providers: { latest: upstream, history: upstream },
    onEvent: (event) => void events.push(event),
  })
  async function request(dataSet: 'latest' | 'history') {
    const url = `http://localhost/api/v1${PATHS[dataSet]}`
    const response = await passTimeFor(handler(new Request(url)))
    const { status, headers } = response
    return { status, headers, body: await response.json() }
  }
  async function refresh() {
    void handler.refresh()
    await vi.advanceTimersByTimeAsync(CALL_OVER)
  }
  const reported = (dataSet: string): string[] =>
    events.flatMap((event) => ('dataSet' in event && event.dataSet === dataSet ? [event.type] : []))
  return { clock, refresh, request, reported }
}

function failuresIn(types: string[]): string[] {
  return types.filter((type) => /failed|rejected|dropped/.test(type))
}

/** With only one provider, the event of a row is followed by `refresh_failed`. */
function failuresWith(event: string | undefined): string[] {
  if (event === undefined || event === 'rates_dropped') return event ? [event] : []
  return [event, 'refresh_failed']
}

function callsIn(types: string[]): number {
  return types.filter((type) => type === 'upstream_request').length
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

describe('docs/testing.md', () => {
  it('has a row for every kind', () => {
    expect(ROWS.map(({ kind }) => kind)).toEqual(Object.keys(WAITS))
  })
})

describe.each(DATA_SETS)('a handler without %s, with a provider that fails', (dataSet) => {
  it.each(ROWS)('responds as documented: $kind', async (row) => {
    const { request, reported } = openHandler(row.kind)
    const startedAt = performance.now()
    const { status, headers, body } = await request(dataSet)
    expect(status).toBe(row.status)
    expect(row.retryAfter).toContain(headers.get('retry-after') ?? 'none')
    const waited = performance.now() - startedAt
    expect(waited).toBeGreaterThanOrEqual(WAITS[row.kind])
    expect(waited).toBeLessThanOrEqual(WAITS[row.kind] + 200)
    expect(JSON.stringify(body)).not.toContain('upstream.example')
    await vi.advanceTimersByTimeAsync(CALL_OVER)
    expect(failuresIn(reported(dataSet))).toEqual(failuresWith(row.event))
  })

  it.each(ROWS.filter(({ delay }) => delay))('retries as documented: $kind', async (row) => {
    const { request, reported, clock } = openHandler(row.kind)
    await request(dataSet)
    // A call that hangs continues after the response.
    while (failuresIn(reported(dataSet)).length === 0) await vi.advanceTimersByTimeAsync(100)
    expect(callsIn(reported(dataSet))).toBe(1)
    const delay = row.delay ?? NaN
    clock.advance(delay - 1)
    expect((await request(dataSet)).status).toBe(502)
    expect(callsIn(reported(dataSet))).toBe(1)
    clock.advance(delay * (row.spread - 1) + 1)
    await request(dataSet)
    expect(callsIn(reported(dataSet))).toBe(2)
  })
})

describe.each(DATA_SETS)('a handler with %s, with a provider that fails', (dataSet) => {
  it.each(ROWS)('serves stale data: $kind', async (row) => {
    const { request, reported, clock, refresh } = openHandler(row.kind, { after: 1 })
    const before = await request(dataSet)
    expect(failuresIn(reported(dataSet))).toEqual([])
    clock.advance(DAY + HOUR)
    const stale = await request(dataSet)
    expect(stale.status).toBe(200)
    expect(stale.body).toEqual(before.body)
    expect(stale.headers.get('cache-status')).toContain('detail=stale')
    await refresh()
    expect(callsIn(reported(dataSet))).toBe(2)
    const rejected = row.kind === 'outdated' && dataSet === 'latest' ? 'rates_rejected' : row.event
    expect(failuresIn(reported(dataSet))).toEqual(failuresWith(rejected))
    const after = await request(dataSet)
    expect(after.status).toBe(200)
    const hasNew = row.kind === 'one-bad-rate'
    expect(JSON.stringify(after.body) !== JSON.stringify(before.body)).toBe(hasNew)
  })

  it.each(ROWS)('serves new data after the provider recovers: $kind', async ({ kind }) => {
    const { request, clock, refresh } = openHandler(kind, { after: 1, times: 1 })
    const before = await request(dataSet)
    for (const time of [DAY + HOUR, DAY]) {
      clock.advance(time)
      await refresh()
    }
    const after = await request(dataSet)
    expect(after.headers.get('cache-status')).not.toContain('stale')
    expect(after.body).not.toEqual(before.body)
  })
})

describe('a failing provider', () => {
  const good = () =>
    createRatesHandler({ now: fakeClock(), providers: fakeProviders() }).rates.latest()

  it('with one bad rate lacks only that rate', async () => {
    const { JPY, ...others } = (await good()).rates
    expect(JPY).toBeGreaterThan(0)
    expect((await openHandler('one-bad-rate').request('latest')).body.rates).toEqual(others)
  })

  it('with outdated rates is a week behind', async () => {
    const { request } = openHandler('outdated')
    expect((await request('latest')).body.updatedAt).toBe((await good()).updatedAt - 7 * DAY)
    expect((await request('history')).body.points.at(-1).d).toBe('2026-01-07')
  })
})

describe('failingProvider()', () => {
  const context = {
    fetch: () => Promise.reject(new Error('a failing provider needs no network')),
    signal: new AbortController().signal,
    now: fakeClock(),
  }

  const range = { start: '2026-01-01', end: '2026-01-14' }

  it.each([
    [{}, '-----'],
    [{ after: 0, times: undefined }, '-----'],
    [{ after: 2 }, '++---'],
    [{ times: 2 }, '--+++'],
    [{ after: 1, times: 3 }, '+---+'],
    [{ after: Infinity }, '+++++'],
    [{ times: 0 }, '+++++'],
  ])('with %j has calls that succeed (+) or fail (-): %s', async (options, expected) => {
    const provider = failingProvider('unreachable', options)
    const calls = Array.from(expected, () => provider.fetchLatest(context))
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map(({ status }) => (status === 'fulfilled' ? '+' : '-')).join('')).toBe(
      expected,
    )
  })

  it('counts calls for latest rates and for history separately', async () => {
    const provider = failingProvider('unreachable', { after: 1 })
    await provider.fetchLatest(context)
    await provider.fetchHistory(range, context)
    const failure = {
      message: expect.stringContaining('upstream.example'),
      cause: expect.any(Error),
    }
    await expect(provider.fetchLatest(context)).rejects.toMatchObject(failure)
    await expect(provider.fetchHistory(range, context)).rejects.toMatchObject(failure)
  })

  it('returns the rates of other providers', async () => {
    const providers = fakeProviders({ seed: 7 })
    const provider = failingProvider('unreachable', { after: 1, providers })
    expect(await provider.fetchLatest(context)).toEqual(await providers.latest.fetchLatest(context))
    const days = await providers.history.fetchHistory(range, context)
    expect(await provider.fetchHistory(range, context)).toEqual(days)
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

  it('has a name with its kind', () => {
    expect(failingProvider('timeout').attribution.name).toBe('Failing provider (timeout)')
  })

  it.each(['', 'toString', 'Timeout'])('throws for the unknown kind %j', (kind) => {
    // @ts-expect-error the kinds are a closed list
    expect(() => failingProvider(kind)).toThrow(TypeError)
  })

  it.each([{ after: -1 }, { after: 0.5 }, { times: NaN }, { times: -Infinity }])(
    'throws for %j',
    (options) => {
      expect(() => failingProvider('timeout', options)).toThrow(TypeError)
    },
  )
})
