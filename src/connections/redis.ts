/** A Redis client with `call` (ioredis), `sendCommand` (node-redis) or `send` (Bun). */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> }
  | { send(command: string, args: string[]): Promise<unknown> }

export type SendCommand = (command: string, args: string[]) => Promise<unknown>

/** @throws {TypeError} if `client` has none of the three methods */
export function senderOf(client: RedisClient): SendCommand {
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
