import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { CacheStore } from '../index.ts'
import { createRedisStore } from '../stores/redis.ts'
import { platform } from './context.ts'
import { UsageError, withUsageError } from './usage.ts'

interface OpenStore {
  store: CacheStore
  close(): void
}

export interface NamedStore {
  /** The flag or variable that selected it. */
  name: string
  place: string
}

/** @throws {UsageError} naming the flag or variable, but not its value, which may contain a password */
export function findStore(
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
): NamedStore | undefined {
  const name = flag === undefined ? 'RATESMITH_STORE' : '--store'
  const place = flag ?? (env['RATESMITH_STORE'] || undefined)
  if (place === undefined) return undefined
  // `C:` is a drive.
  const isOther = /^[^/\\]{2,}:/.test(place) && !isRedisUrl(place)
  if (place !== '' && !isOther) return { name, place }
  throw new UsageError(
    `${name} must be a URL like redis://127.0.0.1:6379, a folder, or a file that ends in .db or .sqlite`,
  )
}

export function isRedis(place: string): boolean {
  return /^rediss?:\/\//i.test(place)
}

function isRedisUrl(place: string): boolean {
  try {
    const { pathname, username, password } = new URL(place)
    // Bun's client accepts credentials that cannot be decoded, and then fails to log in.
    for (const part of [username, password]) decodeURIComponent(part)
    // The path is a database number.
    return isRedis(place) && /^\/?\d*$/.test(pathname)
  } catch {
    return false
  }
}

export function isDatabase(place: string): boolean {
  return /\.(?:db|sqlite3?)$/i.test(place)
}

/** @throws {UsageError} naming its flag or variable */
export async function openStore({ name, place }: NamedStore): Promise<OpenStore> {
  if (isRedis(place)) {
    const connection = await connectRedis(name, place)
    return { store: createRedisStore(connection), close: () => connection.close() }
  }
  if (isDatabase(place)) {
    const { createSqliteStore } = await import('../stores/sqlite.ts')
    const store = withUsageError(name, () => createSqliteStore(place))
    return { store, close: store.close }
  }
  const { createFileStore } = await import('../stores/file.ts')
  // Fails the start if the folder is not writable: otherwise the server would lose its rates at the next restart, unnoticed.
  const store = withUsageError(name, () => {
    makeFolder(place)
    accessSync(place, constants.R_OK | constants.W_OK)
    return createFileStore(place)
  })
  return { store, close() {} }
}

/** Creates a folder and those above it. Node's `recursive` never returns for a folder in `/proc`. */
export function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found) throw new Error(`${path} is not a folder`)
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another server may have created it.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/** A Redis client that reconnects until it is closed. */
interface RedisConnection {
  connect(): Promise<unknown>
  send(command: string, args: string[]): Promise<unknown>
  close(): void
}

/** The server starts without Redis after this time. */
const CONNECT_TIMEOUT_MS = 1_000

/**
 * Without a connection, commands fail immediately: a queued write could overwrite a newer value.
 *
 * @throws {UsageError} for a missing ioredis
 */
async function connectRedis(name: string, url: string): Promise<RedisConnection> {
  const create = platform === 'bun' ? createBunClient : await loadIoredis(name)
  const connection = create(url)
  const connected = connection.connect().catch(() => undefined)
  await Promise.race([connected, sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })])
  return connection
}

function createBunClient(url: string): RedisConnection {
  const { Bun }: { Bun: { RedisClient: new (url: string, options: object) => RedisConnection } } =
    Object(globalThis)
  // The default gives up for good after ten attempts.
  return new Bun.RedisClient(url, { maxRetries: 2 ** 31 - 1, enableOfflineQueue: false })
}

async function loadIoredis(name: string): Promise<typeof createBunClient> {
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
