import type { CacheStore } from '../index.ts'

/** What a handler keeps of what most questions need. */
export const KEYS: readonly string[] = ['rates:v1:latest', 'rates:v1:history']

/** What it keeps of the reference rates since 1999: megabytes, which only a question of a day may need. */
export const ARCHIVE_KEY = 'rates:v1:archive'

/**
 * `store` with what it holds of `keys` read already. A handler gives a store 50 ms, as a request is waiting; a person would rather wait
 * for a slow disk than for an upstream, and offline there is nothing else. What cannot be read is left to `store`.
 */
export async function readAhead(
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
