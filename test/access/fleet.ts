import { sleep } from '../../src/async.ts'
import { createLeasedCounters } from '../../src/access/leases.ts'
import type { Decision, Limit, OpenCounters } from '../../src/access/counters.ts'
import { count } from '../../src/access/shared-count.ts'
import type { SharedReply, SharedRequest } from '../../src/access/shared-count.ts'
import type { RatesEvent } from '../../src/events.ts'
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

/** Creates whole numbers below a limit that are the same for the same seed. */
export function wholeNumbersFrom(seed: number): (limit: number) => number {
  const next = randomFrom(seed)
  return (limit) => Math.floor(next() * limit)
}

/** Counters in the memory of a test, shared by processes on a virtual clock. */
function createShared(runtime: VirtualRuntime, latency: () => number = () => 0) {
  const states = new Map<string, string>()
  const shared = {
    states,
    calls: 0,
    requests: [] as SharedRequest[],
    /** Replaces a call, if it returns something. */
    fault: (): Promise<SharedReply> | undefined => undefined,
  }
  function run(client: string, request: SharedRequest): SharedReply {
    const now = Math.round(runtime.now() * 1_000)
    const { text, reply } = count(states.get(client), request, now)
    states.set(client, text)
    return reply
  }
  const counters = createLeasedCounters({
    async count(client, request) {
      shared.calls += 1
      shared.requests.push(request)
      const fault = shared.fault()
      if (fault) return fault
      const [there, back] = [latency(), latency()]
      if (there > 0) await sleep(runtime, there)
      const reply = run(client, request)
      if (back > 0) await sleep(runtime, back)
      return reply
    },
  })
  return Object.assign(shared, { counters })
}

export interface FleetOptions {
  processes: number
  limits: readonly Limit[]
  latency?: () => number
  start?: number
}

/** Starts processes that share counters, on one virtual clock. */
export function createFleet({ processes, limits, latency, start = START }: FleetOptions) {
  const runtime = virtualRuntime(start)
  const shared = createShared(runtime, latency)
  const events: RatesEvent[] = []
  const emit = (event: RatesEvent): void => void events.push(event)
  const members = Array.from({ length: processes }, () => shared.counters.open({ runtime, emit }))
  const admitted: { at: number; cost: number }[] = []
  const fleet = {
    runtime,
    shared,
    events,
    members,
    admitted,
    requested: 0,
    /** Passes a request to a process. */
    async request(member: number, cost = 1, client = 'key:a'): Promise<Decision> {
      fleet.requested += 1
      const decision = await fleet.member(member).take(client, limits, cost)
      if (decision.granted) admitted.push({ at: runtime.monotonic(), cost })
      return decision
    },
    /** Passes a request to a process, and gives it back after `duration` ms as if it had failed. */
    async fail(member: number, cost: number, duration: number): Promise<void> {
      const { granted } = await fleet.member(member).take('key:a', limits, cost)
      if (duration > 0) await sleep(runtime, duration)
      if (granted) fleet.member(member).giveBack('key:a', limits, cost)
    },
    member(index: number): OpenCounters {
      const member = members[index % processes]
      if (!member) throw new Error('no such process')
      return member
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
