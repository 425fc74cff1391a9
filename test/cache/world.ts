import { guardStore } from '../../src/cache/guarded-store.ts'
import { createReadThrough } from '../../src/cache/read-through.ts'
import type { ReadThrough, ReadThroughOptions } from '../../src/cache/read-through.ts'
import { createStoredValue } from '../../src/cache/stored-value.ts'
import { seal } from '../fixtures/envelopes.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

export type { ReadThrough, ReadThroughOptions }
export { guardStore }

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** When the clock of every world starts, in ms since the Unix epoch. */
export const START = Date.UTC(2026, 10, 20, 12)

/** How long after loading a value is to be refreshed, in ms: when it is due, and the shortest jitter later. */
export const REFRESH_AFTER = HOUR + 30 * SECOND

export type World = ReturnType<typeof createWorld>

/**
 * Processes that share a clock, a store and an upstream, but no memory. Their values are numbers. The whole part of a
 * number is its publication; it is due an hour after it was loaded, and usable for a week longer. The number 13 is not
 * accepted from a store.
 */
export function createWorld(random = 0) {
  const runtime = virtualRuntime(START, random)
  const store = createFakeStore(runtime)
  const world = {
    runtime,
    store,
    upstream: {
      calls: 0,
      /** Returns the number of the call, unless it is replaced. */
      answer: (call: number): number | Promise<number> => call,
      /** The signal of every load. */
      signals: [] as AbortSignal[],
      /** What was known when each load began. */
      known: [] as Parameters<ReadThroughOptions<number>['load']>[1][],
    },
    /** How often stored data were parsed. */
    parsed: 0,
    /** How many ms it was until each next refresh. */
    scheduled: [] as number[],
    /** By how many ms each stale value was overdue. */
    overdue: [] as number[],
    /** When each value from the store was loaded. */
    restored: [] as number[],
    /** Why stored values were rejected. */
    rejected: [] as string[],
    /** The operations of the store that failed, and why. */
    storeFailures: [] as string[],
    start,
  }
  const { upstream } = world
  const guarded = guardStore(store, runtime, (operation, key, error) =>
    world.storeFailures.push(`${operation} ${key}: ${Object(error).message}`),
  )

  /** Starts a process. */
  function start(overrides: Partial<ReadThroughOptions<number>> = {}): ReadThrough<number> {
    return createReadThrough<number>({
      runtime,
      async load(signal, known) {
        upstream.calls += 1
        upstream.signals.push(signal)
        upstream.known.push(known)
        return upstream.answer(upstream.calls)
      },
      lifetime: ({ loadedAt }) => ({ nextUpdateAt: loadedAt + HOUR, maxLifetime: 25 * HOUR }),
      publishedAt: Math.trunc,
      maxStale: 7 * DAY,
      stored: createStoredValue<number>({
        store: guarded,
        key: 'number',
        runtime,
        toJson: String,
        fromJson(json) {
          const data: unknown = JSON.parse(json)
          world.parsed += 1
          if (typeof data !== 'number') throw new Error('not a number')
          if (data === 13) throw new Error('not that one')
          return data
        },
        onRejected: (error) => world.rejected.push(Object(error).message),
      }),
      waitUntil: undefined,
      onRestored: (loadedAt) => world.restored.push(loadedAt),
      onScheduled: (at) => world.scheduled.push(at - runtime.now()),
      onStale: (by) => world.overdue.push(by),
      ...overrides,
    })
  }

  return world
}

/** A store in memory whose operations are recorded, and can be replaced by faults. */
function createFakeStore(runtime: VirtualRuntime) {
  const claimedUntil = new Map<string, number>()
  const store = {
    values: new Map<string, unknown>(),
    reads: 0,
    /** Every key and text that was set, and its lifetime in ms. */
    writes: [] as [key: string, text: string, keptFor: number][],
    /** How many ms every claim was to last. */
    claims: [] as number[],
    /** The answer to every claim; without one they are granted in turn. */
    grants: undefined as boolean | Promise<boolean> | undefined,
    get(key: string): unknown {
      store.reads += 1
      return store.values.get(key)
    },
    set(key: string, text: string, expiresAt: number) {
      store.writes.push([key, text, expiresAt - runtime.now()])
      store.values.set(key, text)
    },
    claim(key: string, expiresAt: number): boolean | Promise<boolean> {
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
  return seal({ v: 2, key: 'number', savedAt: START, data: 41, ...fields })
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

/** A world and its process, whose first value is overdue by a second. */
export async function startOverdue() {
  const world = createWorld()
  const process = world.start()
  await becomeOverdue(world, process)
  return { ...world, world, process }
}

export function throwRefusal(): never {
  throw new Error('refused')
}

export const refuse = async (): Promise<never> => throwRefusal()
export const hang = (): Promise<never> => new Promise(() => {})

/** A failure that asks for a pause, in ms. */
export function refuseFor(retryAfterMs: number): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error('later'), { retryAfterMs }))
}
