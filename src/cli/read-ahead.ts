import type { CacheStore } from '../index.ts'

/** What a handler keeps. Of another key nothing is read ahead, and all goes on as it does without. */
const KEYS = ['rates:v1:latest', 'rates:v1:history']

/**
 * `store` with what it holds read already. A handler gives a store 50 ms, as a request is waiting; a person would rather wait
 * for a slow disk than for an upstream, and offline there is nothing else. What cannot be read is left to `store`.
 */
export async function readAhead(store: CacheStore): Promise<CacheStore> {
  const texts = new Map<string, unknown>()
  const read = async (key: string): Promise<unknown> => texts.set(key, await store.get(key))
  await Promise.allSettled(KEYS.map(read))
  return {
    get: (key) => texts.get(key) ?? store.get(key),
    set(key, value, expiresAt) {
      texts.set(key, value)
      return store.set(key, value, expiresAt)
    },
  }
}
