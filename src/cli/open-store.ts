import { accessSync, constants, mkdirSync } from 'node:fs'

import type { CacheStore } from '../index.ts'
import { createRedisStore } from '../stores/redis.ts'
import { connectRedis, findRedis } from './redis.ts'
import type { ServeFlags } from './serve-flags.ts'
import { UsageError, withUsageError } from './usage.ts'

/** The store that keeps fetched rates between starts. */
export interface OpenStore {
  /** `undefined` to keep rates in memory only. */
  store: CacheStore | undefined
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
      isBusy: () => false,
      close: () => connection.close(),
    }
  }
  const opened = data === undefined ? undefined : watched(await createDataStore(data))
  return { store: opened?.store, isBusy: () => opened?.isBusy() ?? false, close() {} }
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
