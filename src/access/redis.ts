import { assertKnownOptions, createBoundedMap, loadOnce, senderOf } from '../core.ts'
import type { RedisClient } from '../core.ts'
import { COUNT_SCRIPT, argumentsOf, parseReply } from './count-script.ts'
import { CountedDecision, termsOf } from './count.ts'
import type { Change, State } from './count.ts'
import type { Counters } from './counters.ts'
import { hexDigest } from './keys.ts'

export type { RedisClient } from '../core.ts'
export type { Counters } from './counters.ts'

/** Options of `createRedisCounters`. */
export interface RedisCountersOptions {
  /** Prefix of every key, for a Redis shared with other applications (default `''`). */
  prefix?: string | undefined
}

/**
 * Creates counters in Redis (5 or later, or Redis Cluster), which the processes of a fleet share. You open and close the
 * connection of `client`. Each client of the API has one key, which expires; each request is one `EVALSHA`. Processes remember
 * what was used of a month, so that a Redis that lost its data grants no second month.
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
 *   plans: { public: '60/min' },
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
  const digest = loadOnce(async () => hexDigest('SHA-1', COUNT_SCRIPT))

  async function run(args: string[]): Promise<unknown> {
    try {
      return await send('EVALSHA', [await digest(), ...args])
    } catch (error) {
      // The server was restarted, or has not run the script before.
      if (!/NOSCRIPT/.test(String(error))) throw error
      return send('EVAL', [COUNT_SCRIPT, ...args])
    }
  }

  return {
    open() {
      const memory = createBoundedMap<string, Remembered>(MAX_REMEMBERED)
      return {
        async take(name, limits, cost) {
          const terms = termsOf(limits)
          let remembered = memory.get(name)
          if (!remembered) memory.set(name, (remembered = new Remembered()), 1)
          const { back, takenAt, known, knownAt } = remembered
          // A call that fails may have given back: nothing is given back twice.
          remembered.back = 0
          const args = argumentsOf(terms, { cost, back, takenAt, known, knownAt })
          const reply = await run(['1', `${prefix}limits:v2:${name}`, ...args])
          const counted = parseReply(reply, terms)
          remembered.learn(counted)
          return new CountedDecision(limits, counted, cost, remembered)
        },
        close() {},
      }
    },
  }
}

/** Clients that a process remembers: of others, nothing is given back, and an empty Redis has no floor. */
const MAX_REMEMBERED = 100_000

/** What a process remembers of a client between calls. */
class Remembered {
  known = 0
  knownAt = 0
  back = 0
  takenAt = 0

  learn({ used, at }: State): void {
    // Replies may arrive in another order.
    if (at < this.knownAt || (at === this.knownAt && used < this.known)) return
    this.known = used
    this.knownAt = at
  }

  /** Sent with the next call; together, as if all was taken when the first was. */
  giveBack({ back, takenAt }: Change): void {
    this.takenAt = this.back > 0 ? Math.min(this.takenAt, takenAt) : takenAt
    this.back += back
  }
}
