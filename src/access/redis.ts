import type { Counters } from './counters.ts'

/** Creates counters in Redis. */
export function createRedisCounters(client: object): Counters {
  throw new Error(`not implemented: ${typeof client}`)
}
