import { senderOf } from '../connections/redis.ts'
import type { RedisClient } from '../connections/redis.ts'
import { usedInMonth } from './shared-count.ts'

/**
 * Resolves to what each of `clients` has used in the month of `now` (ms since the Unix epoch), by the counters in Redis, in
 * their order. Rejects when the client rejects.
 */
export async function readRedisUsage(
  client: RedisClient,
  clients: readonly string[],
  now: number,
): Promise<number[]> {
  const send = senderOf(client)
  const states = clients.map((each) => send('GET', [`limits:v1:${each}`]))
  return (await Promise.all(states)).map((state) => usedInMonth(state, now))
}
