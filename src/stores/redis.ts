import type { CacheStore } from '../cache/store.ts'
import { senderOf } from '../connections/redis.ts'
import type { RedisClient } from '../connections/redis.ts'
import { resolveStoreOptions } from '../known-options.ts'
import type { StoreOptions } from '../known-options.ts'

export type { RedisClient } from '../connections/redis.ts'
export type { StoreOptions } from '../known-options.ts'

/** An asynchronous store with a `claim` method. */
export interface ClaimingStore extends CacheStore {
  /** Resolves to the value last set for `key`; undefined once it has expired. */
  get(key: string): Promise<string | undefined>
  /** Stores `value` until `expiresAt` (ms since the Unix epoch). */
  set(key: string, value: string, expiresAt: number): Promise<void>
  /** Resolves to true for exactly one caller, which may refresh the value of `key` until `expiresAt` (ms since the Unix epoch). */
  claim(key: string, expiresAt: number): Promise<boolean>
}

/**
 * Creates a store in Redis. You open and close the connection of `client`. The store sends only `GET` and `SET`, and
 * rejects when the client rejects or throws.
 *
 * @throws {TypeError} if `client` has none of the three methods, or an option is invalid
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { createRatesHandler } from 'ratesmith'
 * import { createRedisStore } from 'ratesmith/stores/redis'
 *
 * const handler = createRatesHandler({ store: createRedisStore(new Redis()) })
 * ```
 */
export function createRedisStore(client: RedisClient, options: StoreOptions = {}): ClaimingStore {
  const send = senderOf(client)
  const { prefix, timeLeft } = resolveStoreOptions(options)
  return {
    async get(key) {
      const value = await send('GET', [prefix + key])
      return typeof value === 'string' ? value : undefined
    },
    async set(key, value, expiresAt) {
      await send('SET', [prefix + key, value, 'PX', String(timeLeft(expiresAt))])
    },
    async claim(key, expiresAt) {
      // The value does not matter: claims expire and are never released.
      const args = [`${prefix}${key}:claim`, '1', 'NX', 'PX', String(timeLeft(expiresAt))]
      return String(await send('SET', args)) === 'OK'
    },
  }
}
