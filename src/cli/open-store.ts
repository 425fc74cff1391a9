import { accessSync, constants, mkdirSync } from 'node:fs'

import type { CacheStore } from '../index.ts'
import { createRedisStore } from '../stores/redis.ts'
import type { ServeFlags } from './flags.ts'
import { connectRedis, findRedis } from './redis.ts'
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
export async function openStore(
  { data, redis }: Pick<ServeFlags, 'data' | 'redis'>,
  env: NodeJS.ProcessEnv,
): Promise<OpenStore> {
  const named = findRedis(redis, env)
  if (data !== undefined && named) {
    throw new UsageError(`--data and ${named.name} are two places for the same data: choose one`)
  }
  if (named) {
    const connection = await connectRedis(named)
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
