import { createCommandStore } from './redis-commands.ts'
import type { ClaimingStore } from './redis-commands.ts'
import type { StoreOptions } from './store-options.ts'

export type { ClaimingStore } from './redis-commands.ts'
export type { StoreOptions } from './store-options.ts'

/** A Redis client with `call` (ioredis), `sendCommand` (node-redis) or `send` (Bun). */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> }
  | { send(command: string, args: string[]): Promise<unknown> }

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
  return createCommandStore(senderOf(client), options)
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
