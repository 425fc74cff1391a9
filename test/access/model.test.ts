import { parseList } from 'structured-headers'
import { beforeAll, describe, expect, it } from 'vitest'

import { createMemoryCounters } from '../../src/access/index.ts'
import { limitsOf } from '../../src/access/plans.ts'
import { wholeNumbersFrom } from './fleet.ts'
import { openGuard, recordedStore } from './service.ts'
import type { Asked } from './service.ts'

const SEEDS = 500
const REQUESTS = 36

/** What is given back for errors of the server. */
const FAILURES = [{ name: 'failures', quota: 10, window: 60_000 }]

const PLANS = {
  free: '5/min',
  odd: '7/3s, 60/month',
  large: '97/61s, 1000/month',
  monthly: '45/month',
  hourly: '13/h',
} as const

type PlanName = keyof typeof PLANS

const KINDS: readonly Asked[] = [
  { cost: 1 },
  { cost: 1, isPublic: true },
  { cost: 3 },
  { cost: 4, spent: 1, status: 400 },
  { cost: 3, status: 304 },
  { cost: 10 },
  { cost: 10, spent: 3 },
  { cost: 10, spent: 1 },
  { cost: 2, status: 502 },
  // The client has disconnected.
  { cost: 2, status: 499 },
]

/** Reads a header field with an implementation of structured fields (RFC 9651) of others. */
function itemsOf(field: string): [name: unknown, parameters: Record<string, unknown>][] {
  return parseList(field).map(([value, parameters]) => [value, Object.fromEntries(parameters)])
}

/**
 * Limits as their definition: the list of what one client was granted, from which everything is computed again each time, in
 * exact numbers. Slow, and without a state that could drift.
 */
interface ModelLimit {
  name: string
  quota: number
  /** In ms, or calendar months in UTC. */
  window: number | 'month'
}

/** What the header fields contain about a limit. */
interface ModelState {
  r: number
  t: number
}

/** The decision of the model about a cost: for each limit, how long it refuses the cost, in ms. */
type Waits = readonly number[]

function createModelClient(limits: readonly ModelLimit[]) {
  /** Also has requests that took nothing: the clock was seen at their time. */
  const requests: { at: number; cost: number }[] = []

  /** The level at `now`, in units of which one request is `unitOf(limit)`. */
  function levelOf(limit: ModelLimit, now: number): bigint {
    let level = 0n
    let last = requests[0]?.at ?? now
    for (const { at, cost } of [...requests, { at: now, cost: 0 }]) {
      if (limit.window !== 'month') {
        // Each ms refills `quota` units; a clock that was set back refills nothing.
        const refilled = BigInt(Math.max(0, at - last)) * BigInt(limit.quota)
        level = level > refilled ? level - refilled : 0n
      } else if (monthOf(at) > monthOf(last)) level = 0n
      level += BigInt(cost) * unitOf(limit)
      last = at
    }
    return level
  }

  /** How long `cost` does not fit, in ms, found by trying. */
  function waitOf(limit: ModelLimit, now: number, cost: number): number {
    const excess = levelOf(limit, now) - BigInt(limit.quota - cost) * unitOf(limit)
    return excess <= 0n ? 0 : timeFor(limit, excess, now)
  }

  return {
    /** Returns how long each limit refuses `cost`: all zeros if it is granted. */
    waits: (now: number, cost: number): Waits => limits.map((each) => waitOf(each, now, cost)),
    /** Records what a request has cost in the end: 0 if it was refused. */
    record: (at: number, cost: number): void => void requests.push({ at, cost }),
    states: (now: number, waits: Waits): ModelState[] =>
      limits.map((limit, index) => {
        const level = levelOf(limit, now)
        const time = waits[index] || (level === 0n ? 0 : timeFor(limit, level, now))
        return {
          r: Number((BigInt(limit.quota) * unitOf(limit) - level) / unitOf(limit)),
          t: Math.ceil(time / 1_000),
        }
      }),
    /** Returns an interval of t ms in which more than `quota + quota * t / window` was granted, if there is one. */
    violation(): string | undefined {
      for (const { name, quota, window } of limits) {
        if (window === 'month') continue
        for (const [first, { at: from }] of requests.entries()) {
          let sum = 0
          for (const { at, cost } of requests.slice(first)) {
            sum += cost
            if (sum * window > quota * (window + at - from)) {
              return `${name}: ${sum} in ${at - from} ms`
            }
          }
        }
      }
      return undefined
    },
  }
}

function unitOf({ window }: ModelLimit): bigint {
  return window === 'month' ? 1n : BigInt(window)
}

/** The first ms at which `amount` is refilled. */
function timeFor({ window, quota }: ModelLimit, amount: bigint, now: number): number {
  if (window === 'month') {
    let end = now
    while (monthOf(end) === monthOf(now)) end += 86_400_000
    return Math.floor(end / 86_400_000) * 86_400_000 - now
  }
  const drain = BigInt(quota)
  return Number((amount + drain - 1n) / drain)
}

function monthOf(time: number): number {
  const [year, month] = new Date(time).toISOString().split('-')
  return Number(year) * 12 + Number(month)
}

describe('the counters agree with the model', () => {
  const records = [
    { id: 'a', plan: 'odd' },
    { id: 'b', plan: 'large' },
    { id: 'c', plan: 'monthly' },
    { id: 'd', plan: 'hourly' },
  ] as const
  let stores: Awaited<ReturnType<typeof recordedStore>>
  beforeAll(async () => {
    stores = await recordedStore(records)
  })

  function clientsOf(): { plan: PlanName; client?: string; headers: Record<string, string> }[] {
    const withKeys = records.map(({ plan }, index) => {
      const key = stores.keys[index] ?? ''
      return {
        plan,
        headers: index % 2 === 0 ? { 'x-api-key': key } : { authorization: `Bearer ${key}` },
      }
    })
    return [
      { plan: 'free', client: '203.0.113.1', headers: {} },
      { plan: 'free', client: '2001:db8::', headers: {} },
      ...withKeys,
    ]
  }

  async function simulate(seed: number): Promise<Record<string, number>> {
    const random = wholeNumbersFrom(seed)
    const hasJumps = seed % 2 === 1
    // Ends of November, December, January and February.
    const end = Date.UTC(2026, 11 + (seed % 4))
    const start = end - random(60_000) - 1
    const counters = createMemoryCounters()
    const { ask, runtime } = openGuard(
      { plans: PLANS, anonymous: 'free', keys: stores.store, counters },
      start,
    )
    const clients = clientsOf().map((client) => {
      const limits = limitsOf(PLANS[client.plan], client.plan)
      const maxCost = Math.min(...limits.map(({ quota }) => quota))
      const failures = createModelClient(FAILURES)
      return {
        ...client,
        limits,
        maxCost,
        model: createModelClient(limits),
        forgive(now: number): boolean {
          const isForgiven = failures.waits(now, 1).every((wait) => wait === 0)
          failures.record(now, isForgiven ? 1 : 0)
          return isForgiven
        },
      }
    })
    const statuses: Record<string, number> = {}

    async function request(client: (typeof clients)[number], kind: Asked): Promise<void> {
      const { model, limits, maxCost, headers } = client
      const { cost = 1, status = 200 } = kind
      const now = runtime.now()
      const taken = Math.min(cost, maxCost)
      const waits: Waits = model.waits(now, taken)
      const longest = Math.max(0, ...waits)
      const isRefused = longest > 0
      const response = await ask({ ...kind, client: client.client, headers })
      const where = `seed ${seed}, ${client.plan}, ${JSON.stringify(kind)}`
      expect(response.status, where).toBe(isRefused ? 429 : status)
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
      const spent = status >= 500 && client.forgive(now) ? 0 : Math.min(kind.spent ?? cost, taken)
      model.record(now, isRefused ? 0 : spent)
      const field = response.header('ratelimit')
      if (kind.isPublic && !isRefused && client.plan === 'free') {
        expect(field, where).toBeUndefined()
        return
      }
      // The state of a refusal is that before it; of a grant, that after it and after what was given back.
      const states = model.states(now, isRefused ? waits : limits.map(() => 0))
      expect(itemsOf(field ?? ''), where).toEqual(
        limits.map(({ name }, index) => [name, states[index]]),
      )
      expect(itemsOf(response.header('ratelimit-policy') ?? ''), where).toEqual(
        limits.map(({ name, quota, window }) => [
          name,
          window === 'month' ? { q: quota } : { q: quota, w: window / 1_000 },
        ]),
      )
      const after = isRefused ? Math.max(1, Math.ceil(longest / 1_000)) : undefined
      expect(response.refusal?.retryAfter, where).toBe(after)
    }

    // All clients exist from the start on: later entries would be checked when others are added.
    for (const client of clients) await request(client, KINDS[0] ?? fail())
    for (let number = 0; number < REQUESTS; number += 1) {
      const client = clients[random(clients.length)] ?? fail()
      await request(client, KINDS[random(KINDS.length)] ?? fail())
      const step = random(10)
      if (step < 3) await runtime.advance(random(3_000))
      if (step === 3) await runtime.advance(random(90_000))
      if (step === 4 && random(6) === 0) await runtime.advance(random(7_200_000))
      if (hasJumps && step === 5) runtime.setClock(runtime.now() + random(4_000_000) - 2_000_000)
    }
    const violations = clients.map(({ model }) => model.violation())
    expect(hasJumps ? [] : violations.filter((each) => each !== undefined)).toEqual([])
    return statuses
  }

  it(`in ${SEEDS} simulations, about statuses, header fields and waits`, async () => {
    const total: Record<string, number> = {}
    for (let seed = 0; seed < SEEDS; seed += 1) {
      for (const [status, count] of Object.entries(await simulate(seed))) {
        total[status] = (total[status] ?? 0) + count
      }
    }
    expect(Object.keys(total)).toEqual(['200', '304', '400', '429', '499', '502'])
    for (const count of Object.values(total)) expect(count).toBeGreaterThan(SEEDS / 2)
  })
})

function fail(): never {
  throw new Error('not reached')
}
