import { accessSync, constants, mkdirSync } from 'node:fs'

import type { CacheStore } from '../index.ts'
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
  const store = data === undefined ? undefined : await createDataStore(data)
  return { store, close() {} }
}

/** Rather no server than one that the operator believes to keep its data. */
async function createDataStore(folder: string): Promise<CacheStore> {
  const { createFileStore } = await import('../stores/file.ts')
  return told('--data', () => {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.R_OK | constants.W_OK)
    return createFileStore(folder)
  })
}
