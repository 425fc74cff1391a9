import type { CacheStore } from '../cache/store.ts'
import { assertKnownOptions } from '../known-options.ts'

/** Options of `createMemoryStore`. */
export interface MemoryStoreOptions {
  /** How many entries to keep; the one set longest ago goes first (default 1,000). */
  maxEntries?: number | undefined
}

/**
 * A bounded store in this process, for handlers that are to share what they fetched.
 *
 * @throws {TypeError} where `maxEntries` is not a whole number of at least 1
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): CacheStore {
  const { maxEntries = 1_000 } = options
  assertKnownOptions(options, { maxEntries })
  if (!Number.isInteger(maxEntries) || maxEntries < 1) {
    throw new TypeError(`maxEntries must be a whole number of at least 1, got ${maxEntries}`)
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
