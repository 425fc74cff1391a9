import { createHash } from 'node:crypto'

import { COUNT_SCRIPT } from '../../src/access/count-script.ts'
import { count } from '../../src/access/count.ts'
import type { State } from '../../src/access/count.ts'
import type { Counters, Decision, Limit } from '../../src/access/index.ts'
import { createRedisCounters } from '../../src/access/redis.ts'
import { sleep } from '../../src/async.ts'
import type { RatesEvent } from '../../src/index.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

export const START = Date.UTC(2026, 10, 20)

export const burst = (quota: number, window: number): Limit => ({ name: 'burst', quota, window })
export const month = (quota: number): Limit => ({ name: 'month', quota, window: 'month' })

/** Creates random numbers from 0 to 1 that are the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function wholeNumbersFrom(seed: number): (limit: number) => number {
  const next = randomFrom(seed)
  return (limit) => Math.floor(next() * limit)
}

/** A Redis in the memory of a test, which runs the script as `count` does: the same is proven on a real one. */
function createFakeRedis(runtime: VirtualRuntime, latency: () => number = () => 0) {
  const states = new Map<string, State>()
  const redis = {
    states,
    calls: [] as string[][],
    isDown: false,
    async call(...call: string[]): Promise<unknown> {
      redis.calls.push(call)
      const [command = '', digest, , key = '', ...args] = call
      if (redis.isDown) throw new Error('no connection')
      if (command !== 'EVALSHA' || digest !== DIGEST) throw new Error(`unexpected ${command}`)
      if (latency() > 0) await sleep(runtime, latency())
      const reply = run(key, args.map(Number))
      if (latency() > 0) await sleep(runtime, latency())
      return reply
    },
  }

  function run(key: string, args: readonly number[]): string {
    const [unit = 0, drain = 0, capacity = 0, quota = 0, month = 0] = args
    const [cost = 0, back = 0, takenAt = 0, known = 0, knownAt = 0] = args.slice(5)
    const terms = { unit, drain, capacity, quota, month }
    const change = { cost, back, takenAt, known, knownAt }
    const counted = count(states.get(key), terms, change, Math.floor(runtime.now()))
    const { granted, level, at, used, since } = counted
    if (cost > 0 || back > 0) states.set(key, counted)
    return [granted ? 1 : 0, level, at, used, since].join(' ')
  }

  return redis
}

const DIGEST = createHash('sha1').update(COUNT_SCRIPT).digest('hex')

export interface FleetOptions {
  processes: number
  limits: readonly Limit[]
  latency?: () => number
  start?: number
  /** Counters that all processes share (default those of a Redis). */
  counters?: (runtime: VirtualRuntime) => Counters
}

export function createFleet({ processes, limits, latency, start = START, counters }: FleetOptions) {
  const runtime = virtualRuntime(start)
  const redis = createFakeRedis(runtime, latency)
  const events: RatesEvent[] = []
  const emit = (event: RatesEvent): void => void events.push(event)
  const shared = counters?.(runtime) ?? createRedisCounters(redis)
  const members = Array.from({ length: processes }, () => shared.open({ runtime, emit }))
  /** What was granted and not given back, when it was granted. */
  const admitted: { at: number; cost: number }[] = []
  const fleet = {
    runtime,
    redis,
    events,
    admitted,
    async take(member: number, cost = 1, client = 'key:a'): Promise<Decision> {
      const at = runtime.now()
      const decision = await members[member % processes]?.take(client, limits, cost)
      if (!decision) throw new Error('no such process')
      if (!decision.granted) return decision
      const record = { at, cost }
      admitted.push(record)
      return {
        ...decision,
        granted: true,
        states: decision.states,
        giveBack(back) {
          record.cost -= back
          decision.giveBack?.(back)
        },
      }
    },
    total: () => admitted.reduce((sum, { cost }) => sum + cost, 0),
  }
  return fleet
}

/**
 * Returns by how many permits an interval of `admitted` exceeds the limit at most: a positive number is a violation. An
 * interval of `t` ms may have `quota + quota * t / window`.
 */
export function excessOf(
  admitted: readonly { at: number; cost: number }[],
  quota: number,
  window: number,
): number {
  let level = 0
  let last = 0
  let highest = 0
  for (const { at, cost } of admitted) {
    level = Math.max(0, level - ((at - last) * quota) / window) + cost
    last = at
    highest = Math.max(highest, level)
  }
  return highest - quota
}
