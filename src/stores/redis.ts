import type { CacheStore } from '../cache/store.ts'
import { resolveStoreOptions } from '../known-options.ts'
import type { StoreOptions } from '../known-options.ts'

export type { StoreOptions } from '../known-options.ts'

/** A Redis client with `call` (ioredis), `sendCommand` (node-redis) or `send` (Bun). */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> }
  | { send(command: string, args: string[]): Promise<unknown> }

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

function senderOf(client: RedisClient): (command: string, args: string[]) => Promise<unknown> {
  // Classes and functions inherit a `call` method.
  if (typeof client === 'object' && client !== null) {
    // First, because ioredis also has a `sendCommand`, with other parameters.
    if ('call' in client && isFunction(client.call)) {
      return async (command, args) => client.call(command, ...args)
    }
    if ('sendCommand' in client && isFunction(client.sendCommand)) {
      return async (command, args) => client.sendCommand([command, ...args])
    }
    if ('send' in client && isFunction(client.send)) {
      return async (command, args) => client.send(command, args)
    }
  }
  throw new TypeError('client must be a Redis client with call(), sendCommand() or send()')
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
