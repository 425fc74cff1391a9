import { readFileSync } from 'node:fs'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { failingProvider, fakeClock, fakeProviders } from '../../src/testing/index.ts'
import type { FailingProviderOptions, FailureKind } from '../../src/testing/index.ts'
import { passTimeFor } from './virtual-time.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** When even a call for history has ended, in ms. */
const CALL_OVER = 11_000

const PATHS = { latest: '/latest', history: '/history?from=EUR&to=USD&period=1M' }

const DATA_SETS = ['latest', 'history'] as const

/** How long a request without rates waits, in ms. A kind that is missing here does not compile. */
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

/** What the page of testing says of a kind. */
function readRow(line: string) {
  const [, name = '', , answer = '', event = '', pause = ''] = line
    .split('|')
    .map((cell) => cell.trim())
  const kind = name.slice(2, -2)
  if (!isKind(kind)) return []
  const [first] = /^[\d,]+(?= s$)|^\d+(?=, 2, 4)/.exec(pause) ?? []
  const retryAfter = [...answer.matchAll(/(?<=`|: )\d+(?=`)/g)].map(([text]) => text)
  const row = {
    kind,
    status: Number(answer.slice(0, 3)),
    /** The values that `Retry-After` may have, or `none`. */
    retryAfter: retryAfter.length > 0 ? retryAfter : ['none'],
    event: event.replaceAll('`', '') || undefined,
    /** The first pause after a failure, in ms; none where nothing has failed. */
    pause: first === undefined ? undefined : Number(first.replace(',', '')) * 1_000,
    /** How much longer it may be at random. */
    spread: pause.includes('…') ? 1.5 : 1,
  }
  return [row]
}

const ROWS = page.split('\n').flatMap(readRow)

/** A handler over a failing provider, and what has become of it. */
function trouble(kind: FailureKind, options?: FailingProviderOptions) {
  const clock = fakeClock()
  const upstream = failingProvider(kind, options)
  const events: RatesEvent[] = []
  const handler = createRatesHandler({
    now: clock,
    providers: { latest: upstream, history: upstream },
    onEvent: (event) => void events.push(event),
  })
  async function ask(dataSet: 'latest' | 'history') {
    const request = new Request(`http://localhost/api/v1${PATHS[dataSet]}`)
    const response = await passTimeFor(handler(request))
    const { status, headers } = response
    return { status, headers, record: await response.json() }
  }
  /** Refreshes, for as long as a call may take. */
  async function refresh() {
    void handler.refresh()
    await vi.advanceTimersByTimeAsync(CALL_OVER)
  }
  const reported = (dataSet: string): string[] =>
    events.flatMap((event) => ('dataSet' in event && event.dataSet === dataSet ? [event.type] : []))
  return { clock, refresh, ask, reported }
}

/** The events of data that are no event of every day. */
function troubles(types: string[]): string[] {
  return types.filter((type) => /failed|rejected|dropped/.test(type))
}

/** What follows the event of a row: the failed refresh, as there is one provider only. */
function troublesWith(event: string | undefined): string[] {
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

describe('the page of testing', () => {
  it('has a row for every kind', () => {
    expect(ROWS.map(({ kind }) => kind)).toEqual(Object.keys(WAITS))
  })
})

describe.each(DATA_SETS)('a handler without %s, over a provider that fails', (dataSet) => {
  it.each(ROWS)('is as the page says: $kind', async (row) => {
    const { ask, reported } = trouble(row.kind)
    const startedAt = performance.now()
    const { status, headers, record } = await ask(dataSet)
    expect(status).toBe(row.status)
    expect(row.retryAfter).toContain(headers.get('retry-after') ?? 'none')
    const waited = performance.now() - startedAt
    expect(waited).toBeGreaterThanOrEqual(WAITS[row.kind])
    expect(waited).toBeLessThanOrEqual(WAITS[row.kind] + 200)
    expect(JSON.stringify(record)).not.toContain('upstream.example')
    await vi.advanceTimersByTimeAsync(CALL_OVER)
    expect(troubles(reported(dataSet))).toEqual(troublesWith(row.event))
  })

  it.each(ROWS.filter(({ pause }) => pause))('leaves it alone as long: $kind', async (row) => {
    const { ask, reported, clock } = trouble(row.kind)
    await ask(dataSet)
    // The call of one that hangs goes on when nobody waits any more.
    while (troubles(reported(dataSet)).length === 0) await vi.advanceTimersByTimeAsync(100)
    expect(callsIn(reported(dataSet))).toBe(1)
    const pause = row.pause ?? NaN
    clock.advance(pause - 1)
    expect((await ask(dataSet)).status).toBe(502)
    expect(callsIn(reported(dataSet))).toBe(1)
    clock.advance(pause * (row.spread - 1) + 1)
    await ask(dataSet)
    expect(callsIn(reported(dataSet))).toBe(2)
  })
})

describe.each(DATA_SETS)('a handler with %s, over a provider that fails', (dataSet) => {
  it.each(ROWS)('goes on answering: $kind', async (row) => {
    const { ask, reported, clock, refresh } = trouble(row.kind, { after: 1 })
    const before = await ask(dataSet)
    expect(troubles(reported(dataSet))).toEqual([])
    clock.advance(DAY + HOUR)
    const stale = await ask(dataSet)
    expect(stale.status).toBe(200)
    expect(stale.record).toEqual(before.record)
    expect(stale.headers.get('cache-status')).toContain('detail=stale')
    await refresh()
    expect(callsIn(reported(dataSet))).toBe(2)
    const rejected = row.kind === 'outdated' && dataSet === 'latest' ? 'rates_rejected' : row.event
    expect(troubles(reported(dataSet))).toEqual(troublesWith(rejected))
    const after = await ask(dataSet)
    expect(after.status).toBe(200)
    const hasNew = row.kind === 'one-bad-rate'
    expect(JSON.stringify(after.record) !== JSON.stringify(before.record)).toBe(hasNew)
  })

  it.each(ROWS)('has the next rates once it is over: $kind', async ({ kind }) => {
    const { ask, clock, refresh } = trouble(kind, { after: 1, times: 1 })
    const before = await ask(dataSet)
    for (const time of [DAY + HOUR, DAY]) {
      clock.advance(time)
      await refresh()
    }
    const after = await ask(dataSet)
    expect(after.headers.get('cache-status')).not.toContain('stale')
    expect(after.record).not.toEqual(before.record)
  })
})

describe('a failing provider', () => {
  const good = () =>
    createRatesHandler({ now: fakeClock(), providers: fakeProviders() }).rates.latest()

  it('with a single bad rate lacks that rate and no other', async () => {
    const { JPY, ...others } = (await good()).rates
    expect(JPY).toBeGreaterThan(0)
    expect((await trouble('one-bad-rate').ask('latest')).record.rates).toEqual(others)
  })

  it('with a single bad rate after good ones leaves the last good one', async () => {
    const { ask, reported, clock, refresh } = trouble('one-bad-rate', { after: 1 })
    const { rates, updatedAt } = (await ask('latest')).record
    clock.advance(DAY + HOUR)
    await refresh()
    const after = (await ask('latest')).record
    expect([after.rates.JPY, after.older]).toEqual([rates.JPY, { JPY: updatedAt }])
    expect(reported('latest')).toContain('rates_lost')
  })

  it('with outdated rates is a week behind', async () => {
    const { ask } = trouble('outdated')
    expect((await ask('latest')).record.updatedAt).toBe((await good()).updatedAt - 7 * DAY)
    expect((await ask('history')).record.points.at(-1).d).toBe('2026-01-07')
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
  ])('with %j has calls that go %s', async (options, expected) => {
    const provider = failingProvider('unreachable', options)
    const calls = Array.from(expected, () => provider.fetchLatest(context))
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map(({ status }) => (status === 'fulfilled' ? '+' : '-')).join('')).toBe(
      expected,
    )
  })

  it('counts latest rates and history apart', async () => {
    const provider = failingProvider('unreachable', { after: 1 })
    await provider.fetchLatest(context)
    await provider.fetchHistory(range, context)
    await expect(provider.fetchLatest(context)).rejects.toThrow('did not answer')
    await expect(provider.fetchHistory(range, context)).rejects.toThrow('did not answer')
  })

  it('answers with the rates of other providers', async () => {
    const providers = fakeProviders({ seed: 7 })
    const provider = failingProvider('unreachable', { after: 1, providers })
    expect(await provider.fetchLatest(context)).toEqual(await providers.latest.fetchLatest(context))
    const days = await providers.history.fetchHistory(range, context)
    expect(await provider.fetchHistory(range, context)).toEqual(days)
  })

  it('rejects with the reason of its signal after it hung, and at once after that', async () => {
    const controller = new AbortController()
    const provider = failingProvider('timeout')
    const given = { ...context, signal: controller.signal }
    const call = provider.fetchLatest(given)
    const reason = new Error('over')
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await expect(provider.fetchLatest(given)).rejects.toBe(reason)
  })

  it('says in its name what it is', () => {
    expect(failingProvider('timeout').attribution.name).toBe('Failing provider (timeout)')
  })

  it.each(['', 'toString', 'Timeout'])('has no kind %j', (kind) => {
    // @ts-expect-error the kinds are a closed list
    expect(() => failingProvider(kind)).toThrow(TypeError)
  })

  it.each([{ after: -1 }, { after: 0.5 }, { times: NaN }, { times: -Infinity }])(
    'refuses %j',
    (options) => {
      expect(() => failingProvider('timeout', options)).toThrow(TypeError)
    },
  )
})
