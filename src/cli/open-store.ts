import { accessSync, constants, mkdirSync } from 'node:fs'

import type { CacheStore } from '../index.ts'
import { createFileStore } from '../stores/file.ts'
import { createRedisStore } from '../stores/redis.ts'
import type { ServeFlags } from './flags.ts'
import { connectRedis } from './redis.ts'
import { UsageError, told } from './usage-error.ts'

/** Where fetched rates are kept beside memory. */
export interface OpenStore {
  /** `undefined` for nowhere. */
  store: CacheStore | undefined
  close(): void
}

/**
 * Opens the store that the flags or the environment ask for.
 *
 * @throws {UsageError} naming what cannot be used
 */
export async function openStore({
  data,
  redis,
}: Pick<ServeFlags, 'data' | 'redis'>): Promise<OpenStore> {
  const [name, url] =
    redis === undefined
      ? ['RATESMITH_REDIS_URL', process.env['RATESMITH_REDIS_URL'] || undefined]
      : ['--redis', redis]
  if (data !== undefined && url !== undefined) {
    throw new UsageError(`--data and ${name} are two places for the same data: choose one`)
  }
  if (url !== undefined) {
    const connection = await connectRedis(name, url)
    return { store: createRedisStore(connection), close: () => connection.close() }
  }
  const store = data === undefined ? undefined : told('--data', () => createDataStore(data))
  return { store, close() {} }
}

/** Rather no server than one that the operator believes to keep its data. */
function createDataStore(folder: string): CacheStore {
  mkdirSync(folder, { recursive: true })
  accessSync(folder, constants.R_OK | constants.W_OK)
  return createFileStore(folder)
}
