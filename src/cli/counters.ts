import type { Counters } from '../access/index.ts'
import { connectRedis } from './store.ts'
import type { NamedRedis, OpenStore } from './store.ts'
import { UsageError } from './usage.ts'

/** The counters that a flag or a variable selects. */
export type NamedCounters = { kind: 'memory' } | ({ kind: 'redis' } & NamedRedis)

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
  throw new UsageError(`${name} must be memory or a URL like redis://127.0.0.1:6379`)
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
    // Servers that share rates share limits.
    default: {
      if (!redis) return { counters: undefined, close: doNothing }
      const { createRedisCounters } = await import('../access/redis.ts')
      return { counters: createRedisCounters(redis), close: doNothing }
    }
  }
}
