import { parseList } from 'structured-headers'
import { beforeAll, describe, expect, it } from 'vitest'

import { createMemoryCounters } from '../../src/access/index.ts'
import { limitsOf } from '../../src/access/plans.ts'
import { market } from '../fixtures/service.ts'
import { wholeNumbersFrom } from './fleet.ts'
import { createModelClient } from './model.ts'
import type { Waits } from './model.ts'
import { openGuarded, recordedStore } from './service.ts'
import type { Sent } from './service.ts'

const SEEDS = 500
const REQUESTS = 36

const PLANS = {
  free: { burst: '5/min' },
  odd: { burst: '7/3s', month: 60 },
  large: { burst: '97/61s', month: 1_000 },
  monthly: { month: 45 },
  hourly: { burst: '13/h' },
} as const

type PlanName = keyof typeof PLANS

/** A request: what is taken before it, and what it costs in the end. */
interface Kind extends Sent {
  taken: number
  status: number
  cost: number
}

const LIST = '/v1/convert?from=USD&to=EUR,GBP,JPY'
const ROW = '{"from":"USD","to":"EUR"}'
const POST = {
  target: '/v1/convert',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  taken: 10,
}

const KINDS: readonly Kind[] = [
  { target: '/v1/latest', taken: 1, status: 200, cost: 1 },
  { target: '/rates', taken: 1, status: 200, cost: 1 },
  { target: LIST, taken: 3, status: 200, cost: 3 },
  { target: LIST, method: 'HEAD', taken: 3, status: 200, cost: 3 },
  { target: LIST, headers: { 'if-none-match': '*' }, taken: 3, status: 304, cost: 1 },
  { target: `${LIST},x1`, taken: 4, status: 400, cost: 1 },
  { target: LIST, method: 'DELETE', taken: 3, status: 405, cost: 1 },
  { target: `${LIST},CHF,SEK,NOK,DKK,PLN,CZK,HUF,RON,AUD`, taken: 10, status: 200, cost: 10 },
  // Its provider fails.
  { target: '/v1/history?from=USD&to=EUR,GBP', taken: 2, status: 502, cost: 0 },
  { ...POST, body: `[${ROW},{"from":"USD","to":["GBP","JPY","EUR"]}]`, status: 200, cost: 3 },
  { ...POST, body: '{', status: 400, cost: 1 },
  { target: '/v1/openapi.json', taken: 0, status: 200, cost: 0 },
  { target: '/v1/latest', method: 'OPTIONS', taken: 0, status: 204, cost: 0 },
]

/** Reads a header field with an implementation of structured fields (RFC 9651) of others. */
function itemsOf(field: string): [name: unknown, parameters: Record<string, unknown>][] {
  return parseList(field).map(([value, parameters]) => [value, Object.fromEntries(parameters)])
}

async function openSeed(stores: Awaited<ReturnType<typeof recordedStore>>, start: number) {
  const failing = { ...market.history, fetchHistory: () => Promise.reject(new Error('down')) }
  const { send, runtime } = openGuarded(
    {
      plans: PLANS,
      anonymous: 'free',
      keys: stores.store,
      counters: createMemoryCounters(),
    },
    { providers: { latest: market.latest, history: failing }, start },
  )
  return { send, runtime }
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

  /** The clients: each with its plan and what identifies it. */
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
    const start = Date.UTC(2026, 10, 30, 23, 59, random(60), random(1_000))
    const { send, runtime } = await openSeed(stores, start)
    const clients = clientsOf().map((client) => {
      const limits = limitsOf(PLANS[client.plan], client.plan)
      const maxCost = Math.min(...limits.map(({ quota }) => quota))
      return { ...client, limits, maxCost, model: createModelClient(limits) }
    })
    const statuses: Record<string, number> = {}

    async function request(client: (typeof clients)[number], kind: Kind): Promise<void> {
      const { model, limits, maxCost, headers } = client
      const now = runtime.now()
      const taken = Math.min(kind.taken, maxCost)
      const waits: Waits = taken === 0 ? [] : model.waits(now, taken)
      const longest = Math.max(0, ...waits)
      const isRefused = longest > 0
      const response = await send({
        ...kind,
        client: client.client,
        headers: { ...kind.headers, ...headers },
      })
      const where = `seed ${seed}, ${client.plan}, ${kind.method ?? 'GET'} ${kind.target}`
      expect(response.status, where).toBe(isRefused ? 429 : kind.status)
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
      const field = response.header('ratelimit')
      const isPublic = response.header('cache-control')?.startsWith('public') === true
      if (taken === 0 || isPublic) {
        expect(field, where).toBeUndefined()
        return void (taken > 0 && model.record(now, isRefused ? 0 : Math.min(kind.cost, taken)))
      }
      // The state of a refusal is that before it; of a grant, that after it and after what was given back.
      model.record(now, isRefused ? 0 : Math.min(kind.cost, taken))
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
      const after = isRefused ? String(Math.max(1, Math.ceil(longest / 1_000))) : undefined
      expect(isRefused ? response.header('retry-after') : undefined, where).toBe(after)
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
    expect(Object.keys(total)).toEqual(['200', '204', '304', '400', '405', '429', '502'])
    for (const count of Object.values(total)) expect(count).toBeGreaterThan(SEEDS / 2)
  })
})

describe('the model', () => {
  it('finds more than the arrival curve permits', () => {
    const model = createModelClient(limitsOf({ burst: '5/s' }, 'a'))
    for (const at of [0, 0, 0, 0, 0, 200]) model.record(at, 1)
    expect(model.violation()).toBeUndefined()
    model.record(399, 1)
    expect(model.violation()).toBe('burst: 7 in 399 ms')
  })

  it('waits until a refused cost fits, to the ms', () => {
    const model = createModelClient(limitsOf({ burst: '7/3s' }, 'a'))
    model.record(0, 7)
    expect(model.waits(0, 1)).toEqual([429])
    expect(model.waits(428, 1)).toEqual([1])
    expect(model.waits(429, 1)).toEqual([0])
  })
})

function fail(): never {
  throw new Error('not reached')
}
