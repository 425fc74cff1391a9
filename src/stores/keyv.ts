import type { CacheStore } from '../cache/store.ts'
import { requireFunctions, resolveStoreOptions } from '../known-options.ts'
import type { StoreOptions } from '../known-options.ts'

export type { StoreOptions } from '../known-options.ts'

/** The methods of a `Keyv` that the store calls; a real `Keyv` is assignable. */
export interface KeyvClient {
  /** Resolves to the value last set for `key`; undefined without one, and after an error. */
  get(key: string): Promise<unknown>
  /** Stores `value` for `ttl` ms. Resolves to false after an error. */
  set(key: string, value: string, ttl: number): Promise<unknown>
  /** Calls `listener` with each error of the backend. */
  on(event: 'error', listener: (error: unknown) => void): unknown
}

/**
 * Creates a store in a backend of Keyv, such as Postgres or MongoDB. You open and close its connection. The store has no
 * `claim` method: when rates become due, several processes may send an upstream request at the same time.
 *
 * The store rejects when Keyv fails. To see failed reads, which Keyv only emits, it adds a listener for `error` events: Keyv
 * then throws no errors, and a lost connection does not end the process. Keyv 5 needs `throwOnErrors: true`.
 *
 * @throws {TypeError} if `keyv` has no `get`, `set` and `on` methods, or an option is invalid
 * @example
 * ```ts
 * import { Keyv } from 'keyv'
 * import { createRatesHandler } from 'ratesmith'
 * import { createKeyvStore } from 'ratesmith/stores/keyv'
 *
 * const handler = createRatesHandler({ store: createKeyvStore(new Keyv()) })
 * ```
 */
export function createKeyvStore(keyv: KeyvClient, options: StoreOptions = {}): CacheStore {
  const { prefix, timeLeft } = resolveStoreOptions(options)
  requireFunctions({ 'keyv.get': keyv?.get, 'keyv.set': keyv?.set, 'keyv.on': keyv?.on }, true)
  let last: { cause?: unknown } = {}
  keyv.on('error', (cause) => {
    last = { cause }
  })
  return {
    async get(key) {
      const before = last
      const value = await keyv.get(prefix + key)
      if (value === undefined && last !== before) throw new Error('Keyv failed to read', last)
      return value
    },
    async set(key, value, expiresAt) {
      // A ttl of 0 would keep the value for ever.
      const isStored = await keyv.set(prefix + key, value, timeLeft(expiresAt))
      if (isStored === false) throw new Error('Keyv failed to write', last)
    },
  }
}
