import type { Runtime } from '../runtime.ts'
import { createEntry, isServable } from './cache-entry.ts'
import type { CacheEntry, Lifetime } from './cache-entry.ts'
import { runInBackground } from './run-in-background.ts'
import type { WaitUntil } from './run-in-background.ts'
import type { LoadedValue, StoredValue } from './stored-value.ts'

/** The last instant that a `Date` holds, in ms since the Unix epoch. */
const LAST_INSTANT = 8_640_000_000_000_000

/** What is in memory when a new value comes. */
export interface CacheState<Value> {
  /** The value before, however old. */
  last: Value | undefined
  /** The same, while it may be answered with. */
  current: Value | undefined
  /** That as it is held. */
  entry: CacheEntry<Value> | undefined
}

/** What a shelf needs to know of its value. */
export interface ValueCacheOptions<Value> {
  runtime: Runtime
  /** For how long what was loaded needs no refresh. */
  lifetime(loaded: LoadedValue<Value>): Lifetime
  /** When the value was published: a number that never goes back from one value to the next. */
  publishedAt(value: Value): number
  /** Returns what is kept of a value, beside those in memory; throws where it is not to be trusted. */
  validateStored?(value: Value, state: CacheState<Value>): Value | Promise<Value>
  /** For how many ms past its due time a value may still be answered with. */
  maxStale: number
  /** Where the value is kept beyond this memory. */
  stored: StoredValue<Value> | undefined
  /** Given every promise of work that goes on after an answer. */
  waitUntil: WaitUntil | undefined
  /** Told of every value that is taken from the store, by when it was loaded, in ms since the Unix epoch. */
  onRestored(loadedAt: number): void
  /** Told when the next refresh is due, in ms since the Unix epoch, whenever that changes. */
  onScheduled(at: number): void
}

/** Where one value is kept: in memory, and behind that in a store. */
export interface ValueCache<Value> {
  /** The value in memory, however old. */
  lastEntry(): CacheEntry<Value> | undefined
  /** The value in memory, while it may be answered with. */
  currentEntry(): CacheEntry<Value> | undefined
  /** The same, for what comes after it. */
  state(): CacheState<Value>
  /**
   * Keeps what was loaded, in memory and in the store, unless something newer is held. Judges it again where the store has
   * brought another value than `before` during the load; rejects as `judge` throws.
   */
  put(loaded: LoadedValue<Value>, before: CacheState<Value>): Promise<void>
  /**
   * Looks into the store for something newer, for which it waits 50 ms. `undefined` where there is no store, or it was
   * looked into within the last `gap` ms.
   */
  readStore(gap: number): Promise<void> | undefined
}

/** A shelf with nothing in memory. */
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
    // The same publication, found by another process later than by this one, needs no refresh for so much longer.
    return ahead > 0 || (ahead === 0 && loadedAt > lastEntry.loadedAt)
  }

  async function adopt(loaded: LoadedValue<Value>): Promise<void> {
    if (!isNewer(loaded)) return
    const value = await validateStored(loaded.value, state())
    const validated = { ...loaded, value }
    // Meanwhile another one may have come.
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
    readStore(gap) {
      if (reading || !stored) return reading
      if (runtime.monotonic() - readAt < gap) return undefined
      readAt = runtime.monotonic()
      reading = stored.read(adopt).finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}
