import { accessSync, constants, mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import type { CacheStore } from '../index.ts'
import { createRedisStore } from '../stores/redis.ts'
import { platform } from './context.ts'
import type { ServeFlags } from './serve-flags.ts'
import { UsageError, withUsageError } from './usage.ts'

/** The store that keeps fetched rates between starts. */
export interface OpenStore {
  /** `undefined` to keep rates in memory only. */
  store: CacheStore | undefined
  /** The connection of a store in Redis. */
  redis: RedisConnection | undefined
  /** Returns whether a file operation is in progress. */
  isBusy(): boolean
  close(): void
}

/**
 * Opens the store that the flags or the environment select.
 *
 * @throws {UsageError} naming the invalid flag or variable
 */
export async function openStore(
  { data, redis }: Pick<ServeFlags, 'data' | 'redis'>,
  env: NodeJS.ProcessEnv,
): Promise<OpenStore> {
  const named = findRedis(redis, env)
  if (data !== undefined && named) {
    throw new UsageError(`--data and ${named.name} cannot be combined; choose one`)
  }
  if (named) {
    const connection = await connectRedis(named)
    return {
      store: createRedisStore(connection),
      redis: connection,
      isBusy: () => false,
      close: () => connection.close(),
    }
  }
  const opened = data === undefined ? undefined : watched(await createDataStore(data))
  const isBusy = (): boolean => opened?.isBusy() ?? false
  return { store: opened?.store, redis: undefined, isBusy, close() {} }
}

function watched(store: CacheStore): Pick<OpenStore, 'store' | 'isBusy'> {
  let underWay = 0

  async function watch(operation: () => unknown): Promise<unknown> {
    underWay += 1
    try {
      return await operation()
    } finally {
      underWay -= 1
    }
  }

  return {
    store: {
      get: (key) => watch(() => store.get(key)),
      set: (key, value, expiresAt) => watch(() => store.set(key, value, expiresAt)),
    },
    isBusy: () => underWay > 0,
  }
}

async function createDataStore(folder: string): Promise<CacheStore> {
  const { createFileStore } = await import('../stores/file.ts')
  // Fails the start if the folder is not writable: otherwise the server would lose its rates at the next restart, unnoticed.
  return withUsageError('--data', () => {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.R_OK | constants.W_OK)
    return createFileStore(folder)
  })
}

/** A Redis client that reconnects until it is closed. */
export interface RedisConnection {
  connect(): Promise<unknown>
  send(command: string, args: string[]): Promise<unknown>
  close(): void
}

/** The Redis that the operator selected. */
export interface NamedRedis {
  /** The flag or variable that set the URL. */
  name: string
  url: string
}

/** Returns the Redis of the flag `--redis`, or else of the environment; `undefined` without either. */
export function findRedis(
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
): NamedRedis | undefined {
  if (flag !== undefined) return { name: '--redis', url: flag }
  const url = env['RATESMITH_REDIS_URL']
  return url ? { name: 'RATESMITH_REDIS_URL', url } : undefined
}

/** The server starts without Redis after this time. */
const CONNECT_TIMEOUT_MS = 1_000

/**
 * Connects to the Redis at `url` with Bun's client or ioredis. Without a connection, commands fail immediately: a queued
 * write could overwrite a newer value.
 *
 * @throws {UsageError} for an invalid `url` or a missing ioredis; the message contains `name` and not the URL, which may
 *   contain a password
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
    // Bun's client accepts credentials that cannot be decoded, and then fails to log in.
    for (const part of [username, password]) decodeURIComponent(part)
    // The path is a database number.
    if (/^rediss?:$/.test(protocol) && /^\/?\d*$/.test(pathname)) return create(url)
  } catch {
    // The client's error may contain the URL.
  }
  throw new UsageError(`${name} must be a URL like redis://127.0.0.1:6379`)
}

function createBunClient(url: string): RedisConnection {
  const { Bun }: { Bun: { RedisClient: new (url: string, options: object) => RedisConnection } } =
    Object(globalThis)
  // The default gives up for good after ten attempts.
  return new Bun.RedisClient(url, { maxRetries: 2 ** 31 - 1, enableOfflineQueue: false })
}

async function loadIoredis(name: string): Promise<(url: string) => RedisConnection> {
  const { Redis } = await import('ioredis').catch((cause: unknown) => {
    throw new UsageError(`${name} requires ioredis; run: npm install ioredis`, { cause })
  })
  return (url) => {
    let lastError: Error | undefined
    const client = new Redis(url, { lazyConnect: true, enableOfflineQueue: false })
      .on('error', (error) => (lastError = error))
      .on('ready', () => (lastError = undefined))
    return {
      connect: () => client.connect(),
      close: () => client.disconnect(),
      // A command's own error reports only a missing connection.
      send: (command, args) =>
        client.call(command, ...args).catch((error: unknown) => {
          throw lastError ?? error
        }),
    }
  }
}
