import { createReadThrough } from '../../src/cache/read-through.ts'
import type { ReadThrough, ReadThroughOptions } from '../../src/cache/read-through.ts'
import { createStoredValue, guardStore } from '../../src/cache/store.ts'
import { seal } from '../fixtures/envelopes.ts'
import { DAY, HOUR, SECOND, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

export type { ReadThrough, ReadThroughOptions }
export { guardStore }

/** When the clock of every world starts, in ms since the Unix epoch. */
export const START = Date.UTC(2026, 10, 20, 12)

/** How long after loading the refresh of a value is due, in ms: an hour, and the shortest jitter. */
export const REFRESH_AFTER = HOUR + 30 * SECOND

export type World = ReturnType<typeof createWorld>

/**
 * Processes that share a clock, a store and an upstream, but no memory. Their values are numbers. The whole part of a
 * number is its publication. It is due an hour after it was loaded, and may be served for a week longer. The number 13 is
 * rejected when it comes from a store.
 */
export function createWorld(random = 0) {
  const runtime = virtualRuntime(START, random)
  const store = createFakeStore(runtime)
  const world = {
    runtime,
    store,
    upstream: {
      calls: 0,
      /** Returns the number of the call; tests replace it. */
      respond: (call: number): number | Promise<number> => call,
      signals: [] as AbortSignal[],
      /** The cache state when each load began. */
      known: [] as Parameters<ReadThroughOptions<number>['load']>[1][],
    },
    parsed: 0,
    /** The time until each next refresh, in ms. */
    scheduled: [] as number[],
    /** How long each stale value was overdue, in ms. */
    overdue: [] as number[],
    restored: [] as number[],
    rejected: [] as string[],
    /** The failed operations of the store, with their messages. */
    storeFailures: [] as string[],
    start,
    /** Lets loads wait, and returns how they end. */
    hold() {
      const load = Promise.withResolvers<number>()
      upstream.respond = () => load.promise
      return load
    },
    /** Stores `data`, as if another process had loaded them at `savedAt`. */
    save: (data: number, savedAt: number) =>
      void store.values.set('number', envelope({ data, savedAt })),
    /** Loads the first value of `process` and lets time pass until it is overdue by a second. */
    async becomeOverdue(process: ReadThrough<number>) {
      await process.get()
      await runtime.advance(REFRESH_AFTER + SECOND)
    },
  }
  const { upstream } = world
  const guarded = guardStore(store, runtime, (operation, key, error) =>
    world.storeFailures.push(`${operation} ${key}: ${Object(error).message}`),
  )

  function start(overrides: Partial<ReadThroughOptions<number>> = {}): ReadThrough<number> {
    return createReadThrough<number>({
      runtime,
      async load(signal, known) {
        upstream.calls += 1
        upstream.signals.push(signal)
        upstream.known.push(known)
        return upstream.respond(upstream.calls)
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
          if (data === 13) throw new Error('not 13')
          return data
        },
        onRejected: (error) => world.rejected.push(Object(error).message),
      }),
      waitUntil: undefined,
      onRestored: (loadedAt) => world.restored.push(loadedAt),
      onScheduled: (at) => world.scheduled.push(at - runtime.now()),
      onLate: () => undefined,
      onUpdated: () => undefined,
      onStale: (by) => world.overdue.push(by),
      ...overrides,
    })
  }

  return world
}

/** A store in memory that records its operations; tests replace them by faults. */
function createFakeStore(runtime: VirtualRuntime) {
  const claimedUntil = new Map<string, number>()
  const store = {
    values: new Map<string, unknown>(),
    reads: 0,
    /** Every key, text and lifetime in ms that was set. */
    writes: [] as [key: string, text: string, keptFor: number][],
    /** The requested length of every lease, in ms. */
    claims: [] as number[],
    /** The result of every `claim`; by default, one lease at a time is granted. */
    grants: undefined as boolean | Promise<boolean> | undefined,
    /** Lets reads wait, and returns how they end. */
    hold() {
      const read = Promise.withResolvers<unknown>()
      store.values.set('number', read.promise)
      return read
    },
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

/** The stored text of the number 41, loaded at the start, with other `fields`. */
export function envelope(fields: object = {}): string {
  return seal({ v: 2, key: 'number', savedAt: START, data: 41, ...fields })
}

/** Returns the result of `get`, or the error that it rejects with. */
export async function request(process: ReadThrough<number>, signal?: AbortSignal) {
  try {
    return await process.get({ signal })
  } catch (error) {
    return error
  }
}

/** A world and its process, whose first value is overdue by a second. */
export async function startOverdue() {
  const world = createWorld()
  const process = world.start()
  await world.becomeOverdue(process)
  return { ...world, world, process }
}

export function throwRefusal(): never {
  throw new Error('refused')
}

export const refuse = async (): Promise<never> => throwRefusal()
export const hang = (): Promise<never> => new Promise(() => {})

/** Returns a load that fails and requests a delay, in ms. */
export function refuseFor(retryAfterMs: number): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error('later'), { retryAfterMs }))
}
