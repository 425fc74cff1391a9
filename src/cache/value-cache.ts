import type { Runtime } from '../runtime.ts'
import { createEntry, isServable } from './cache-entry.ts'
import type { CacheEntry, Lifetime } from './cache-entry.ts'
import { runInBackground } from './run-in-background.ts'
import type { WaitUntil } from './run-in-background.ts'
import type { LoadedValue, StoredValue } from './stored-value.ts'

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
