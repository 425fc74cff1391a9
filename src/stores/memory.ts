import type { CacheStore } from '../cache/store.ts'
import { assertKnownOptions } from '../known-options.ts'

/** Options of `createMemoryStore`. */
export interface MemoryStoreOptions {
  /** Maximum number of entries; the least recently set entry is evicted first (default 1,000). */
  maxEntries?: number | undefined
}

/**
 * Creates a bounded in-process store, which lets several handlers share their rates.
 *
 * @throws {TypeError} if `maxEntries` is not an integer of at least 1
 * @example
 * ```ts
 * import { createMemoryStore, createRatesHandler } from 'ratesmith'
 *
 * const store = createMemoryStore()
 * const open = createRatesHandler({ store })
 * const closed = createRatesHandler({ store, cors: 'off' })
 * ```
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): CacheStore {
  const { maxEntries = 1_000 } = options
  assertKnownOptions(options, { maxEntries })
  if (!Number.isInteger(maxEntries) || maxEntries < 1) {
    throw new TypeError(`maxEntries must be an integer of at least 1, got ${maxEntries}`)
  }
  const entries = new Map<string, string>()
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries) break
        entries.delete(oldest)
      }
    },
  }
}
