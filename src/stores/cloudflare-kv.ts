import type { CacheStore } from '../cache/store.ts'
import { resolveStoreOptions } from '../known-options.ts'
import type { StoreOptions } from '../known-options.ts'

export type { StoreOptions } from '../known-options.ts'

/** KV rejects a shorter `expirationTtl`. */
const MIN_TTL_SECONDS = 60

/** The methods of a Workers KV namespace that the store calls; a real namespace is assignable. */
export interface KvNamespace {
  /** Resolves to the value last put for `key`, as far as it has been replicated to this location; null without one. */
  get(key: string): Promise<string | null>
  /** Stores `value` for `expirationTtl` seconds. */
  put(key: string, value: string, options: { expirationTtl: number }): Promise<unknown>
}

/**
 * Creates a store in a Workers KV namespace. KV replicates writes to other locations within about a minute, so the store
 * has no `claim` method: when rates become due, several locations may send an upstream request at the same time.
 *
 * @throws {TypeError} if `namespace` has no `get` and `put` methods, or an option is invalid
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createKvStore } from 'ratesmith/stores/cloudflare-kv'
 * import type { KvNamespace } from 'ratesmith/stores/cloudflare-kv'
 *
 * const createHandler = (env: { RATES: KvNamespace }) =>
 *   createRatesHandler({ store: createKvStore(env.RATES) })
 * ```
 */
export function createKvStore(namespace: KvNamespace, options: StoreOptions = {}): CacheStore {
  const { prefix, timeLeft } = resolveStoreOptions(options)
  if (typeof namespace?.get !== 'function' || typeof namespace.put !== 'function') {
    throw new TypeError('namespace must be a KV namespace with get() and put()')
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
