import { runInBackground } from '../async.ts'
import type { Runtime, WaitUntil } from '../async.ts'
import type { LoadedValue, StoredValue } from './store.ts'

/** The latest instant that a `Date` can represent, in ms since the Unix epoch. */
const LAST_INSTANT = 8_640_000_000_000_000

/** The values in memory when a new one arrives. */
export interface CacheState<Value> {
  /** The last value, of any age. */
  last: Value | undefined
  /** The last value, while it may be served. */
  current: Value | undefined
  /** The entry of `current`. */
  entry: CacheEntry<Value> | undefined
}

/** Options of `createValueCache`. */
export interface ValueCacheOptions<Value> {
  runtime: Runtime
  /** Returns how long a loaded value stays fresh. */
  lifetime(loaded: LoadedValue<Value>): Lifetime
  /** Returns when the value was published: a number that never decreases from one value to the next. */
  publishedAt(value: Value): number
  /** Returns the part of a stored value that is kept, given those in memory; throws where it is implausible. */
  validateStored?(value: Value, state: CacheState<Value>): Value | Promise<Value>
  /** How long after `dueAt` a value may still be served, in ms. */
  maxStale: number
  stored: StoredValue<Value> | undefined
  waitUntil: WaitUntil | undefined
  /** Called for every value taken from the store, with its load time in ms since the Unix epoch. */
  onRestored(loadedAt: number): void
  /** Called when the time of the next refresh changes, with that time in ms since the Unix epoch. */
  onScheduled(at: number): void
}

/** Keeps one value in memory and in a store. */
export interface ValueCache<Value> {
  /** Returns the entry in memory, of any age. */
  lastEntry(): CacheEntry<Value> | undefined
  /** Returns the entry in memory, while it may be served. */
  currentEntry(): CacheEntry<Value> | undefined
  state(): CacheState<Value>
  /**
   * Keeps `loaded` in memory and in the store, unless a newer value is cached. Validates it again where the store supplied
   * a value other than `before` during the load; rejects where `validateStored` throws.
   */
  put(loaded: LoadedValue<Value>, before: CacheState<Value>): Promise<void>
  /**
   * Reads a newer value from the store, for which it waits 50 ms. Returns `undefined` without a store, or where the store
   * was read within the last `interval` ms.
   */
  readStore(interval: number): Promise<void> | undefined
}

/** Creates a cache without a value in memory. */
export function createValueCache<Value>(options: ValueCacheOptions<Value>): ValueCache<Value> {
  const { runtime, lifetime, publishedAt, maxStale, stored, waitUntil, onRestored, onScheduled } =
    options
  const { validateStored = (value: Value) => value } = options
  let lastEntry: CacheEntry<Value> | undefined
  let reading: Promise<void> | undefined
  let readAt = -Infinity

  function keep(loaded: LoadedValue<Value>): CacheEntry<Value> {
    lastEntry = createEntry(loaded, lifetime(loaded), runtime)
    onScheduled(lastEntry.refreshAt)
    return lastEntry
  }

  function currentEntry(): CacheEntry<Value> | undefined {
    return lastEntry && isServable(lastEntry, maxStale) ? lastEntry : undefined
  }

  function state(): CacheState<Value> {
    const current = currentEntry()
    return { last: lastEntry?.value, current: current?.value, entry: current }
  }

  function isNewer({ value, loadedAt }: LoadedValue<Value>): boolean {
    if (!lastEntry) return true
    const ahead = publishedAt(value) - publishedAt(lastEntry.value)
    // Of two copies of a publication, the copy loaded later stays fresh for longer.
    return ahead > 0 || (ahead === 0 && loadedAt > lastEntry.loadedAt)
  }

  async function adopt(loaded: LoadedValue<Value>): Promise<void> {
    if (!isNewer(loaded)) return
    const value = await validateStored(loaded.value, state())
    const validated = { ...loaded, value }
    // A newer value may have arrived meanwhile.
    if (!isNewer(validated)) return
    onRestored(loaded.loadedAt)
    keep(validated)
  }

  return {
    lastEntry: () => lastEntry,
    currentEntry,
    state,
    async put({ value, loadedAt }, before) {
      const isOlder = (): boolean =>
        lastEntry !== undefined && publishedAt(lastEntry.value) > publishedAt(value)
      if (isOlder()) return
      const validated =
        lastEntry?.value === before.last ? value : await validateStored(value, state())
      if (isOlder()) return
      const loaded = { value: validated, loadedAt }
      const { dueAt } = keep(loaded)
      if (stored)
        runInBackground(stored.write(loaded, Math.min(dueAt + maxStale, LAST_INSTANT)), waitUntil)
    },
    readStore(interval) {
      if (reading || !stored) return reading
      if (runtime.monotonic() - readAt < interval) return undefined
      readAt = runtime.monotonic()
      reading = stored.read(adopt).finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}

const MINUTE_MS = 60_000

/** The shortest time between a load and the next refresh, in ms, even if the source announces an earlier update. */
const MIN_LIFETIME_MS = 10 * MINUTE_MS

/** Bounds of the random delay after the announced update, in ms, so that handlers do not all refresh at once. */
const MIN_JITTER_MS = 30_000
const MAX_JITTER_MS = 300_000

/** A value in memory. All instants in ms since the Unix epoch. */
export interface CacheEntry<Value> extends LoadedValue<Value> {
  /** When the source announced an update, at least ten minutes after loading; `maxStale` counts from here. */
  dueAt: number
  /** When a refresh is due: shortly after `dueAt`, at most `maxLifetime` after loading. */
  refreshAt: number
  /** The clock that measures its age; setting the system clock back does not make the entry younger. */
  clock: SteadyClock
}

/** How long a value stays fresh. */
export interface Lifetime {
  /** When the source announces the next update, in ms since the Unix epoch. */
  nextUpdateAt: number
  /** The longest time between a load and the next refresh, in ms. */
  maxLifetime: number
}

/** Creates the entry of `loaded`, with its refresh scheduled by `lifetime`. */
export function createEntry<Value>(
  loaded: LoadedValue<Value>,
  { nextUpdateAt, maxLifetime }: Lifetime,
  runtime: Runtime,
): CacheEntry<Value> {
  const dueAt = Math.max(nextUpdateAt, loaded.loadedAt + MIN_LIFETIME_MS)
  const jitter = MIN_JITTER_MS + runtime.random() * (MAX_JITTER_MS - MIN_JITTER_MS)
  const refreshAt = Math.min(dueAt + jitter, loaded.loadedAt + maxLifetime)
  return { ...loaded, dueAt, refreshAt, clock: startSteadyClock(runtime) }
}

/** Returns the time until the refresh of the entry is due, in ms; negative when it is overdue. */
export function timeToRefresh({ refreshAt, clock }: CacheEntry<unknown>): number {
  return refreshAt - clock()
}

/** Returns whether there is an entry whose refresh is not due yet. */
export function isFresh(entry: CacheEntry<unknown> | undefined): boolean {
  return entry !== undefined && timeToRefresh(entry) > 0
}

/** Returns whether the entry may still be served: overdue by at most `maxStale` ms. */
export function isServable({ dueAt, clock }: CacheEntry<unknown>, maxStale: number): boolean {
  return clock() <= dueAt + maxStale
}

/** Returns the time in ms since the Unix epoch; never goes back. */
type SteadyClock = () => number

/**
 * Starts a clock that follows the system clock. When the system clock is set back, it advances by the monotonic clock
 * instead. It stops where the system clock stops, as in a test.
 */
function startSteadyClock(runtime: Runtime): SteadyClock {
  let time = runtime.now()
  let current = { now: time, monotonic: runtime.monotonic() }
  return () => {
    const previous = current
    current = { now: runtime.now(), monotonic: runtime.monotonic() }
    const isSetBack = current.now < previous.now
    time += isSetBack ? current.monotonic - previous.monotonic : current.now - previous.now
    return time
  }
}
