import { describe, expect, it } from 'vitest'

import { createReadThrough } from '../../src/cache/read-through.ts'
import type { ReadThrough } from '../../src/cache/read-through.ts'
import type { Loaded } from '../../src/cache/stored-value.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const START = Date.UTC(2026, 10, 20, 12)
const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR

/** When the first value is to be refreshed. */
const REFRESH_AT = START + HOUR + 30 * SECOND

/** What a read-through has told. */
interface Told {
  /** By how many ms each answer was overdue. */
  overdue: number[]
  scheduled: number[]
  restored: number[]
}

interface Watched extends Told {
  runtime: VirtualRuntime
  value: ReadThrough<number>
  /** What the store has, whether it grants claims, and how often it was read. */
  store: { has: Loaded<number> | undefined; grants: boolean; reads: number }
  source: { answer: () => number | Promise<number>; calls: number }
}

/** A number that is published anew whenever it grows; it is due an hour after it was loaded. */
function watched(): Watched {
  const runtime = virtualRuntime(START)
  const store: Watched['store'] = { has: undefined, grants: true, reads: 0 }
  const source: Watched['source'] = { answer: () => 1, calls: 0 }
  const told: Told = { overdue: [], scheduled: [], restored: [] }
  const value = createReadThrough<number>({
    runtime,
    async load() {
      source.calls += 1
      return source.answer()
    },
    lifetime: ({ loadedAt }) => ({ nextUpdateAt: loadedAt + HOUR, longestLife: DAY }),
    publishedAt: (number) => number,
    maxStale: DAY,
    stored: {
      async read(found) {
        store.reads += 1
        if (store.has) found(store.has)
      },
      write: async () => {},
      claim: async () => store.grants,
    },
    waitUntil: undefined,
    onRestored: (loadedAt) => told.restored.push(loadedAt),
    onScheduled: (at) => told.scheduled.push(at),
    onStale: (by) => told.overdue.push(by),
  })
  return { runtime, value, store, source, ...told }
}

/** Answers that are refused, or that never come. */
const refused = (): Promise<never> => Promise.reject(new Error('refused'))
const never = (): Promise<never> => new Promise(() => {})

describe('the state of a read-through', () => {
  it('is that of nothing at first, which may be loaded now', () => {
    const { value, source } = watched()
    expect(value.state()).toEqual({
      value: undefined,
      stale: false,
      lastAttempt: undefined,
      nextAttemptAt: START,
    })
    expect(source.calls).toBe(0)
  })

  it('has the value, fresh until its refresh is due', async () => {
    const { runtime, value } = watched()
    await value.get()
    const lastAttempt = { at: START, outcome: 'loaded' }
    const state = { value: 1, stale: false, lastAttempt, nextAttemptAt: REFRESH_AT }
    expect(value.state()).toEqual(state)
    runtime.setClock(REFRESH_AT - 1)
    expect(value.state()).toEqual(state)
    await runtime.advance(1)
    expect(value.state()).toEqual({ ...state, stale: true })
    await runtime.advance(HOUR)
    expect(value.state()).toEqual({ ...state, stale: true, nextAttemptAt: runtime.now() })
  })

  it('has no value that is too old', async () => {
    const { runtime, value } = watched()
    await value.get()
    await runtime.advance(HOUR + DAY)
    expect(value.state()).toMatchObject({ value: 1, stale: true })
    await runtime.advance(1)
    expect(value.state()).toMatchObject({ value: undefined, stale: false })
  })

  it('says when the pause after a failure is over, if that is later', async () => {
    const { runtime, value, source } = watched()
    source.answer = refused
    await value.refresh()
    expect(value.state()).toEqual({
      value: undefined,
      stale: false,
      lastAttempt: { at: START, outcome: 'failed' },
      nextAttemptAt: START + SECOND,
    })
    source.answer = () => 1
    await runtime.advance(SECOND)
    await value.get()
    expect(value.state().nextAttemptAt).toBe(REFRESH_AT + SECOND)
  })
})

describe('a read-through tells', () => {
  it('when the next refresh is due: after a load, and after a pause', async () => {
    const { runtime, value, source, scheduled } = watched()
    source.answer = refused
    await value.refresh()
    await runtime.advance(SECOND)
    source.answer = () => 1
    await value.get()
    expect(scheduled).toEqual([START + SECOND, REFRESH_AT + SECOND])
  })

  it('by how much an answer is overdue, each time', async () => {
    const { runtime, value, source, overdue } = watched()
    await value.get()
    source.answer = never
    runtime.setClock(REFRESH_AT - 1)
    await value.get()
    expect(overdue).toEqual([])
    for (const duration of [1, 999, SECOND]) {
      await runtime.advance(duration)
      await value.get()
    }
    expect(overdue).toEqual([0, 999, 1_999])
    expect(source.calls).toBe(2)
  })

  it('what it takes from the store', async () => {
    const { value, store, restored, scheduled } = watched()
    store.has = { value: 5, loadedAt: START - 60 * SECOND }
    expect(await value.get()).toEqual({ value: 5, hit: true, ttl: 3_570 })
    expect([restored, scheduled]).toEqual([[START - 60_000], [REFRESH_AT - 60_000]])
  })
})

describe('an overdue value', () => {
  it('is refreshed at the very moment at which that is due', async () => {
    const { runtime, value, source } = watched()
    await value.get()
    source.answer = () => 2
    await runtime.advance(REFRESH_AT - START)
    expect(value.get()).toEqual({ value: 1, hit: true, ttl: 0 })
    await settled()
    expect(value.get()).toEqual({ value: 2, hit: true, ttl: 3_630 })
  })

  it('is not looked for in the store while it is loaded, and every ten seconds in a pause', async () => {
    const { runtime, value, store, source } = watched()
    await value.get()
    source.answer = never
    await runtime.advance(2 * HOUR)
    await value.get()
    await settled()
    const reads = store.reads
    await runtime.advance(15 * SECOND)
    await value.get()
    expect([store.reads - reads, source.calls]).toEqual([0, 2])
    await runtime.advance(5 * SECOND)
    for (let tenths = 0; tenths < 9; tenths += 1) {
      await value.get()
      await runtime.advance(100)
    }
    expect([store.reads - reads, source.calls]).toEqual([1, 2])
  })
})

describe('refresh()', () => {
  it('leaves alone what is fresh', async () => {
    const { runtime, value, store } = watched()
    await value.get()
    const reads = store.reads
    await runtime.advance(HOUR)
    await value.refresh()
    expect(value.state().lastAttempt).toEqual({ at: START, outcome: 'loaded' })
    expect(store.reads).toBe(reads)
  })
})

describe('whoever has nothing', () => {
  it('is told that another process is at it where that holds the claim for long', async () => {
    const { runtime, value, store, source } = watched()
    store.grants = false
    source.answer = refused
    const first = (async () => value.get())().catch((error: unknown) => error)
    await runtime.advance(4_000)
    expect(await first).toMatchObject({ cause: { message: 'refused' } })
    await runtime.advance(SECOND)
    const next = (async () => value.get())().catch((error: unknown) => error)
    await runtime.advance(4_000)
    expect(await next).toMatchObject({
      name: 'UnavailableError',
      pause: 2 * SECOND,
      cause: { message: 'another process is at it' },
    })
  })

  it('looks into the store once a second in a pause', async () => {
    const { runtime, value, store, source } = watched()
    source.answer = () => Promise.reject(Object.assign(new Error('later'), { retryAfterMs: HOUR }))
    await value.refresh()
    const reads = store.reads
    for (let tenths = 0; tenths < 25; tenths += 1) {
      await (async () => value.get())().catch(() => undefined)
      await runtime.advance(100)
    }
    expect(store.reads - reads).toBe(2)
    store.has = { value: 5, loadedAt: runtime.now() }
    await runtime.advance(500)
    expect(await value.get()).toMatchObject({ value: 5, hit: true })
    expect(source.calls).toBe(1)
  })
})
