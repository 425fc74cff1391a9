import type { CountersContext } from './counters.ts'
import type { FoundKey } from './guard.ts'
import { hashKey, isKey } from './keys.ts'
import type { KeyRecord, KeyStore } from './keys.ts'
import { reasonOf } from '../events.ts'

/** How long a result of the store is used, in ms: a revoked key works at most so long. */
const MAX_AGE_MS = 10_000

const MAX_REMEMBERED = 10_000

/** Creates a function that looks keys up in `store`, and remembers the results. */
export function createKeyLookup(
  store: KeyStore,
  { runtime, emit }: CountersContext,
): (key: string) => FoundKey | Promise<FoundKey> {
  const remembered = new Map<string, { found: KeyRecord | 'unknown_key'; until: number }>()

  async function find(key: string): Promise<FoundKey> {
    try {
      const found = (await store.find(await hashKey(key))) ?? 'unknown_key'
      if (remembered.size >= MAX_REMEMBERED) remembered.clear()
      remembered.set(key, { found, until: runtime.monotonic() + MAX_AGE_MS })
      return found
    } catch (error) {
      emit({ type: 'counters_failed', operation: 'find_key', reason: reasonOf(error), error })
      return 'unavailable'
    }
  }

  return (key) => {
    const known = remembered.get(key)
    if (known && runtime.monotonic() < known.until) return known.found
    return isKey(key) ? find(key) : 'malformed_key'
  }
}
