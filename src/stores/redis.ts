import { createCommandStore } from './redis-commands.ts'
import type { ClaimingStore } from './redis-commands.ts'
import type { StoreOptions } from './store-options.ts'

export type { ClaimingStore } from './redis-commands.ts'
export type { StoreOptions } from './store-options.ts'

/** The one method of a Redis client that is called: that of ioredis, of node-redis or of Bun's own client. */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> }
  | { send(command: string, args: string[]): Promise<unknown> }

/**
 * A store in Redis, through the client that you have and whose connection stays yours. It sends `GET` and `SET` only,
 * and rejects where the client does.
 *
 * @throws {TypeError} where `client` has none of the three methods, or an option cannot be used
 */
export function createRedisStore(client: RedisClient, options: StoreOptions = {}): ClaimingStore {
  return createCommandStore(senderOf(client), options)
}

function senderOf(client: RedisClient): (command: string, args: string[]) => Promise<unknown> {
  // A class or a function has a `call` of its own.
  if (typeof client === 'object' && client !== null) {
    // First, because ioredis has a `sendCommand` too, which takes something else.
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
  throw new TypeError('client must be a Redis client, with call(), sendCommand() or send()')
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
