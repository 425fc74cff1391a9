import { guardStore } from '../../src/cache/guarded-store.ts'
import { createReadThrough } from '../../src/cache/read-through.ts'
import type { ReadThrough, ReadThroughOptions } from '../../src/cache/read-through.ts'
import { createStoredValue } from '../../src/cache/stored-value.ts'
import type { CacheStore } from '../../src/index.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

export type { ReadThrough, ReadThroughOptions }
export { guardStore }

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** When the clock of every world starts, in ms since the Unix epoch. */
export const START: number = Date.UTC(2026, 10, 20, 12)

/** How long after loading a value is to be refreshed, in ms: when it is due, and the shortest jitter later. */
export const REFRESH_AFTER: number = HOUR + 30 * SECOND

/** A store in memory whose operations are recorded, and can be replaced by faults. */
interface FakeStore extends Required<CacheStore> {
  /** What each key returns. */
  values: Map<string, unknown>
  reads: number
  /** Every key and text that was set, and how long it is kept, in ms. */
  writes: [key: string, text: string, keptFor: number][]
  /** How long every claim was to last, in ms. */
  claims: number[]
  /** The answer to every claim; without one they are granted in turn. */
  grants: boolean | Promise<boolean> | undefined
}

/** An upstream that returns the number of the call, unless `answer` is replaced. */
interface FakeUpstream {
  calls: number
  answer(call: number): number | Promise<number>
  /** The signal of every load. */
  signals: AbortSignal[]
  /** What was known when each load began. */
  known: Parameters<ReadThroughOptions<number>['load']>[1][]
}

/** Everything that the processes of a world reported, in order. */
interface Reports {
  /** How long it was until each next refresh, in ms. */
  scheduled: number[]
  /** By how many ms each stale value was overdue. */
  overdue: number[]
  /** When each value from the store was loaded. */
  restored: number[]
  /** Why stored values were rejected. */
  rejected: string[]
  /** The operations of the store that failed, and why. */
  storeFailures: string[]
}

/** Processes that share a clock, a store and an upstream, but no memory. */
export interface World extends Reports {
  runtime: VirtualRuntime
  store: FakeStore
  upstream: FakeUpstream
  /** How often stored data were parsed. */
  parsed: number
  /** Starts a process. */
  start(overrides?: Partial<ReadThroughOptions<number>>): ReadThrough<number>
}

/**
 * A world whose values are numbers. The whole part of a number is its publication; it is due an hour after it was loaded,
 * and usable for a week longer. The number 13 is not accepted from a store.
 */
export function createWorld(random = 0): World {
  const runtime = virtualRuntime(START, random)
  const store = createFakeStore(runtime)
  const upstream: FakeUpstream = { calls: 0, answer: (call) => call, signals: [], known: [] }
  const reports: Reports = {
    scheduled: [],
    overdue: [],
    restored: [],
    rejected: [],
    storeFailures: [],
  }
  const guarded = guardStore(store, runtime, (operation, key, error) =>
    reports.storeFailures.push(`${operation} ${key}: ${Object(error).message}`),
  )
  const world: World = {
    runtime,
    store,
    upstream,
    parsed: 0,
    ...reports,
    start: (overrides) =>
      createReadThrough<number>({
        runtime,
        async load(signal, known) {
          upstream.calls += 1
          upstream.signals.push(signal)
          upstream.known.push(known)
          return upstream.answer(upstream.calls)
        },
        lifetime: ({ loadedAt }) => ({ nextUpdateAt: loadedAt + HOUR, longestLife: 25 * HOUR }),
        publishedAt: Math.trunc,
        maxStale: 7 * DAY,
        stored: createStoredValue<number>({
          store: guarded,
          key: 'number',
          runtime,
          toData: (number) => number,
          fromData(data) {
            world.parsed += 1
            if (typeof data !== 'number') throw new Error('not a number')
            if (data === 13) throw new Error('not that one')
            return data
          },
          onRejected: (error) => reports.rejected.push(Object(error).message),
        }),
        waitUntil: undefined,
        onRestored: (loadedAt) => reports.restored.push(loadedAt),
        onScheduled: (at) => reports.scheduled.push(at - runtime.now()),
        onStale: (by) => reports.overdue.push(by),
        ...overrides,
      }),
  }
  return world
}

function createFakeStore(runtime: VirtualRuntime): FakeStore {
  const claimedUntil = new Map<string, number>()
  const store: FakeStore = {
    values: new Map(),
    reads: 0,
    writes: [],
    claims: [],
    grants: undefined,
    get(key) {
      store.reads += 1
      return store.values.get(key)
    },
    set(key, text, expiresAt) {
      store.writes.push([key, text, expiresAt - runtime.now()])
      store.values.set(key, text)
    },
    claim(key, expiresAt) {
      store.claims.push(expiresAt - runtime.now())
      if (store.grants !== undefined) return store.grants
      if ((claimedUntil.get(key) ?? 0) > runtime.now()) return false
      claimedUntil.set(key, expiresAt)
      return true
    },
  }
  return store
}

/** The text under which a store keeps the number 41, as if loaded at the start, with other `fields`. */
export function envelope(fields: object = {}): string {
  return JSON.stringify({ v: 1, key: 'number', savedAt: START, data: 41, ...fields })
}

/** Stores `data`, as if another process had loaded them at `savedAt`. */
export function save({ store }: World, data: number, savedAt: number): void {
  store.values.set('number', envelope({ data, savedAt }))
}

/** What `get` returns, or the error that it rejects with. */
export async function ask(process: ReadThrough<number>, signal?: AbortSignal): Promise<unknown> {
  try {
    return await process.get({ signal })
  } catch (error) {
    return error
  }
}

/** Loads the first value of `process` and lets time pass until it is overdue by a second. */
export async function becomeOverdue(world: World, process: ReadThrough<number>): Promise<void> {
  await process.get()
  await world.runtime.advance(REFRESH_AFTER + SECOND)
}

export const refuse = (): Promise<never> => Promise.reject(new Error('refused'))
export const hang = (): Promise<never> => new Promise(() => {})

/** A failure that asks for a pause, in ms. */
export function refuseFor(retryAfterMs: number): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error('later'), { retryAfterMs }))
}
