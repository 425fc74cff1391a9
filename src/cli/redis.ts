import { setTimeout as sleep } from 'node:timers/promises'

import { platform } from './platform.ts'
import { UsageError } from './usage-error.ts'

/** A client of Redis, which connects anew for as long as it is not closed. */
export interface RedisConnection {
  connect(): Promise<unknown>
  send(command: string, args: string[]): Promise<unknown>
  close(): void
}

/** A Redis that the operator has named. */
export interface NamedRedis {
  /** The flag or the variable that named it. */
  name: string
  url: string
}

/** The Redis of the flag `--redis`, or else of the environment; `undefined` where neither names one. */
export function findRedis(
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
): NamedRedis | undefined {
  if (flag !== undefined) return { name: '--redis', url: flag }
  const url = env['RATESMITH_REDIS_URL']
  return url ? { name: 'RATESMITH_REDIS_URL', url } : undefined
}

/** How long the start of the server waits for Redis, in ms; after that it goes on without. */
const CONNECT_TIMEOUT_MS = 1_000

/**
 * Connects to the Redis at `url`, through Bun's own client or ioredis. While there is no connection, its commands fail at
 * once: sent later, a value could take the place of a newer one.
 *
 * @throws {UsageError} where `url`, which `name` gave, is none, or ioredis is missing; without the URL, which may hold a
 *   password
 */
export async function connectRedis({ name, url }: NamedRedis): Promise<RedisConnection> {
  const create = platform === 'bun' ? createBunClient : await loadIoredis(name)
  const connection = createFrom(name, url, create)
  const connected = connection.connect().catch(() => undefined)
  await Promise.race([connected, sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })])
  return connection
}

function createFrom(
  name: string,
  url: string,
  create: (url: string) => RedisConnection,
): RedisConnection {
  try {
    const { protocol, pathname, username, password } = new URL(url)
    // Bun's client takes what cannot be decoded, and could never log in with it.
    for (const part of [username, password]) decodeURIComponent(part)
    // The path is the number of a database.
    if (/^rediss?:$/.test(protocol) && /^\/?\d*$/.test(pathname)) return create(url)
  } catch {
    // What a client throws may show the URL.
  }
  throw new UsageError(`${name} must be a URL like redis://127.0.0.1:6379`)
}

function createBunClient(url: string): RedisConnection {
  const { Bun }: { Bun: { RedisClient: new (url: string, options: object) => RedisConnection } } =
    Object(globalThis)
  // After ten attempts, by default, it would never try again.
  return new Bun.RedisClient(url, { maxRetries: 2 ** 31 - 1, enableOfflineQueue: false })
}

async function loadIoredis(name: string): Promise<(url: string) => RedisConnection> {
  const { Redis } = await import('ioredis').catch((cause: unknown) => {
    throw new UsageError(`${name} needs ioredis; install it: npm install ioredis`, { cause })
  })
  return (url) => {
    let trouble: Error | undefined
    const client = new Redis(url, { lazyConnect: true, enableOfflineQueue: false })
      .on('error', (error) => (trouble = error))
      .on('ready', () => (trouble = undefined))
    return {
      connect: () => client.connect(),
      close: () => client.disconnect(),
      // What a command fails with says only that there is no connection.
      send: (command, args) =>
        client.call(command, ...args).catch((error: unknown) => {
          throw trouble ?? error
        }),
    }
  }
}
