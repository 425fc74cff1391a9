import type { CacheStore } from '../index.ts'

/** The store keys of the data that most requests need. */
export const KEYS: readonly string[] = ['rates:v1:latest', 'rates:v1:history']

/** The store key of the reference rates since 1999: megabytes, needed only for requests with a date. */
export const ARCHIVE_KEY = 'rates:v1:archive'

/**
 * Returns `store` with the values of `keys` preloaded. A handler waits only 50 ms for a store; on the command line, a slow disk is
 * still faster than an upstream, and offline it is the only source. Reads that fail are repeated on `get`.
 */
export async function preload(
  store: CacheStore,
  keys: readonly string[] = KEYS,
): Promise<CacheStore> {
  const texts = new Map<string, unknown>()
  const read = async (key: string): Promise<unknown> => texts.set(key, await store.get(key))
  await Promise.allSettled(keys.map(read))
  return {
    get: (key) => texts.get(key) ?? store.get(key),
    set(key, value, expiresAt) {
      texts.set(key, value)
      return store.set(key, value, expiresAt)
    },
  }
}
