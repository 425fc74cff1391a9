import type { CacheStore } from '../cache/store.ts'
import { resolveStoreOptions } from './store-options.ts'
import type { StoreOptions } from './store-options.ts'

export type { StoreOptions } from './store-options.ts'

/** KV takes no shorter life than this, in seconds. */
const MIN_TTL_SECONDS = 60

/** The part of a Workers KV namespace that is used; the real one is assignable to it. */
export interface KvNamespace {
  /** The value last put for `key` that has reached this place; null where there is none. */
  get(key: string): Promise<string | null>
  /** Keeps `value` for `expirationTtl` seconds. */
  put(key: string, value: string, options: { expirationTtl: number }): Promise<unknown>
}

/**
 * A store in a Workers KV namespace. What one place writes, others may see a minute later, so that it cannot claim: after
 * an expiry a few places may ask upstream at the same time.
 *
 * @throws {TypeError} where `namespace` has no `get` and `put`, or an option cannot be used
 */
export function createKvStore(namespace: KvNamespace, options: StoreOptions = {}): CacheStore {
  const { prefix, timeLeft } = resolveStoreOptions(options)
  if (typeof namespace?.get !== 'function' || typeof namespace.put !== 'function') {
    throw new TypeError('namespace must be a KV namespace, with get() and put()')
  }
  return {
    get: (key) => namespace.get(prefix + key),
    set(key, value, expiresAt) {
      const seconds = Math.ceil(timeLeft(expiresAt) / 1_000)
      return namespace.put(prefix + key, value, {
        expirationTtl: Math.max(MIN_TTL_SECONDS, seconds),
      })
    },
  }
}
