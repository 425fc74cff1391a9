import { existsSync } from 'node:fs'

import type { Counters } from '../access/index.ts'
import { isDatabase } from './key-store.ts'
import type { NamedFile } from './key-store.ts'
import { connectRedis } from './store.ts'
import type { NamedRedis, OpenStore } from './store.ts'
import { UsageError, messageOf, withUsageError } from './usage.ts'

/** The counters that a flag or a variable selects. */
export type NamedCounters =
  | { kind: 'memory' }
  | ({ kind: 'redis' } & NamedRedis)
  | ({ kind: 'sqlite' } & NamedFile)

/**
 * Returns the counters of the flag `--counters`, or else of the environment; `undefined` without either.
 *
 * @throws {UsageError} naming the flag or variable, but not its value, which may contain a password
 */
export function findCounters(
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
): NamedCounters | undefined {
  const name = flag === undefined ? 'RATESMITH_COUNTERS' : '--counters'
  const text = flag ?? env['RATESMITH_COUNTERS']
  if (text === undefined || (text === '' && flag === undefined)) return undefined
  if (text === 'memory') return { kind: 'memory' }
  if (/^rediss?:\/\//i.test(text)) return { kind: 'redis', name, url: text }
  if (isDatabase(text) && !text.includes('://')) return { kind: 'sqlite', name, path: text }
  throw new UsageError(
    `${name} must be memory, a URL like redis://127.0.0.1:6379, or a file that ends in .db or .sqlite`,
  )
}

/**
 * Opens the counters that the operator selected: by default those in the Redis of the rates, and `undefined` for the memory.
 *
 * @throws {UsageError} naming the invalid flag or variable
 */
export async function openCounters(
  named: NamedCounters | undefined,
  redis: OpenStore['redis'],
): Promise<{ counters: Counters | undefined; close(): void }> {
  const doNothing = (): void => {}
  switch (named?.kind) {
    case 'memory':
      return { counters: undefined, close: doNothing }
    case 'redis': {
      const { createRedisCounters } = await import('../access/redis.ts')
      const connection = await connectRedis(named)
      return { counters: createRedisCounters(connection), close: () => connection.close() }
    }
    case 'sqlite': {
      const { createSqliteCounters } = await import('../access/sqlite.ts')
      const { name, path } = named
      return {
        counters: withUsageError(name, () => createSqliteCounters(path)),
        close: doNothing,
      }
    }
    // Servers that share rates share limits.
    default: {
      if (!redis) return { counters: undefined, close: doNothing }
      const { createRedisCounters } = await import('../access/redis.ts')
      return { counters: createRedisCounters(redis), close: doNothing }
    }
  }
}

/**
 * Returns what each of `clients` has used in the month of `now` (ms since the Unix epoch), in their order.
 *
 * @throws {UsageError} if the file does not exist
 * @throws {Error} if the counters cannot be read
 */
export async function readUsage(
  named: Exclude<NamedCounters, { kind: 'memory' }>,
  clients: readonly string[],
  now: number,
): Promise<number[]> {
  if (named.kind === 'sqlite') {
    const { name, path } = named
    if (!existsSync(path)) throw new UsageError(`${name}: ${path} does not exist`)
    const { readSqliteUsage } = await import('../access/sqlite-usage.ts')
    try {
      return readSqliteUsage(path, clients, now)
    } catch (error) {
      throw new Error(`${name}: ${path}: ${messageOf(error)}`, { cause: error })
    }
  }
  const { readRedisUsage } = await import('../access/redis-usage.ts')
  const connection = await connectRedis(named)
  try {
    return await readRedisUsage(connection, clients, now)
  } catch (error) {
    // The client's error may contain the URL.
    throw new Error(`${named.name}: the counters in Redis cannot be read`, { cause: error })
  } finally {
    connection.close()
  }
}
