import { loadOnce } from '../async.ts'
import { senderOf } from '../connections/redis.ts'
import type { RedisClient } from '../connections/redis.ts'
import { assertKnownOptions } from '../known-options.ts'
import { COUNT_SCRIPT, argumentsOf, parseReply } from './count-script.ts'
import type { Counters } from './counters.ts'
import { createLeasedCounters } from './leases.ts'

export type { RedisClient } from '../connections/redis.ts'
export type { Counters } from './counters.ts'

/** Options of `createRedisCounters`. */
export interface RedisCountersOptions {
  /** Prefix of every key, for a Redis shared with other applications (default `''`). */
  prefix?: string | undefined
}

/**
 * Creates counters in Redis (5 or later, or Redis Cluster), which the processes of a fleet share. You open and close the
 * connection of `client`. Each client of the API has one key, which expires. A process takes permits in lots, and sends one
 * `EVALSHA` for each lot.
 *
 * @throws {TypeError} if `client` has none of the three methods, or an option is invalid
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { createAccess } from 'ratesmith/access'
 * import { createRedisCounters } from 'ratesmith/access/redis'
 *
 * const access = createAccess({
 *   anonymous: 'public',
 *   plans: { public: { burst: '60/min' } },
 *   counters: createRedisCounters(new Redis()),
 * })
 * ```
 */
export function createRedisCounters(
  client: RedisClient,
  options: RedisCountersOptions = {},
): Counters {
  const send = senderOf(client)
  const { prefix = '' } = options
  assertKnownOptions(options, { prefix })
  if (typeof prefix !== 'string') throw new TypeError('prefix must be a string')
  const digest = loadOnce(async () => sha1(COUNT_SCRIPT))

  async function run(args: string[]): Promise<unknown> {
    try {
      return await send('EVALSHA', [await digest(), ...args])
    } catch (error) {
      // The server was restarted, or has not run the script before.
      if (!/NOSCRIPT/.test(String(error))) throw error
      return send('EVAL', [COUNT_SCRIPT, ...args])
    }
  }

  return createLeasedCounters({
    async count(counted, request) {
      const args = ['1', `${prefix}limits:v1:${counted}`, ...argumentsOf(request)]
      return parseReply(await run(args))
    },
  })
}

async function sha1(text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
