import { describe, expect, it, vi } from 'vitest'

import { createKey, hashKey } from '../../src/access/index.ts'
import { sleep } from '../../src/async.ts'
import { finish } from '../virtual-runtime.ts'
import { hashAtOnce, limitIn, openGuard, recordedStore } from './service.ts'

const PLANS = { public: '10/min', pro: '600/min, 1000/month' } as const

const createKeys = async (count: number): Promise<string[]> =>
  (await Promise.all(Array.from({ length: count }, createKey))).map(({ key }) => key)

const withKey = (key = '') => ({ 'x-api-key': key })

function countEach(values: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

describe('errors of the server', () => {
  it('are given back to a client ten times a minute, and then count', async () => {
    const { ask, runtime } = openGuard({ plans: { public: '30/h' } })
    const failing = { client: '192.0.2.1', cost: 2, status: 502 }
    const statuses: number[] = []
    for (let number = 0; number < 40; number += 1) statuses.push((await ask(failing)).status)
    // Ten are free, and 15 take what there is.
    expect(countEach(statuses)).toEqual({ 502: 25, 429: 15 })
    expect((await ask({ ...failing, client: '192.0.2.2' })).status).toBe(502)
    await runtime.advance(3_600_000)
    for (let number = 0; number < 10; number += 1) await ask(failing)
    const { header } = await ask({ client: '192.0.2.1' })
    expect(limitIn(header('ratelimit'), 'burst').r).toBe(29)
  })

  it('cost what was found to be spent, once they count', async () => {
    const { store, keys } = await recordedStore([{ id: 'a', plan: 'pro' }])
    const { ask } = openGuard({ plans: PLANS, keys: store })
    const headers = withKey(keys[0])
    for (let number = 0; number < 10; number += 1) await ask({ headers, cost: 10, status: 500 })
    const { header } = await ask({ headers, cost: 10, spent: 3, status: 500 })
    expect(limitIn(header('ratelimit'), 'month').r).toBe(997)
  })
})

describe('unknown keys', () => {
  it('cost an address nothing where several requests with a new key arrive at once', async () => {
    const { store, keys } = await recordedStore([{ id: 'a', plan: 'pro' }])
    const { ask } = openGuard({ plans: { ...PLANS, public: '1/h' }, keys: store })
    const request = { client: '192.0.2.1', headers: withKey(keys[0]) }
    const responses = await Promise.all(Array.from({ length: 4 }, () => ask(request)))
    expect(countEach(responses.map(({ status }) => status))).toEqual({ 200: 4 })
    const wrong = { client: '192.0.2.1', headers: withKey((await createKeys(1))[0]) }
    const refused = await Promise.all(Array.from({ length: 4 }, () => ask(wrong)))
    expect(countEach(refused.map(({ status }) => status))).toEqual({ 401: 1, 429: 3 })
  })

  it('hold few requests with one wrong key, however many arrive at once', async () => {
    const held = Promise.withResolvers<undefined>()
    const keys = { find: () => held.promise }
    const { ask } = openGuard({ plans: { ...PLANS, public: '1/h' }, keys })
    const wrong = { client: '192.0.2.1', headers: withKey((await createKeys(1))[0]) }
    const early: number[] = []
    const requests = Array.from({ length: 50 }, async () => early.push((await ask(wrong)).status))
    await vi.waitFor(() => expect(countEach(early)).toEqual({ 429: 29 }))
    held.resolve(undefined)
    await Promise.all(requests)
  })
})

describe('look-ups of unknown keys', () => {
  it.each([
    { addresses: 1, each: 110, latency: 900, statuses: [401, 503] },
    { addresses: 24, each: 5, latency: 900, statuses: [401] },
    { addresses: 120, each: 10, latency: 900, statuses: [401, 503] },
    { addresses: 120, each: 5, latency: 30, statuses: [401] },
  ])(
    'from $addresses addresses, $each each, do not refuse a key from elsewhere',
    async ({ addresses, each, latency, statuses }) => {
      hashAtOnce()
      const { store, keys } = await recordedStore([{ id: 'a', plan: 'pro' }])
      const realHash = await hashKey(keys[0] ?? '')
      const plans = { public: '600/min', pro: '600/min' } as const
      const { ask, runtime } = openGuard({ plans, keys: store })
      store.override = async (hash) => {
        await sleep(runtime, latency)
        return hash === realHash ? { id: 'a', plan: 'pro' } : undefined
      }
      const wrong = await createKeys(addresses * each)
      const attacks = wrong.map(async (key, index) => {
        const host = index % addresses
        const client = `10.0.${host >> 8}.${host & 255}`
        return (await ask({ client, headers: withKey(key) })).status
      })
      const real = ask({ client: '192.0.2.1', headers: withKey(keys[0]) })
      expect((await finish(runtime, real)).status).toBe(200)
      expect(runtime.monotonic()).toBeLessThan(3_000)
      expect(new Set(await finish(runtime, Promise.all(attacks)))).toEqual(new Set(statuses))
    },
  )
})

it('usage has what is left of each limit of a key, and takes nothing', async () => {
  const { store, keys } = await recordedStore([{ id: 'a', plan: 'pro' }])
  const start = Date.UTC(2026, 10, 20)
  const { guard, ask, runtime } = openGuard({ keys: store, plans: PLANS }, start)
  const headers = withKey(keys[0])
  const header = (name: string) => new Headers(headers).get(name)
  const request = { method: 'GET', target: '/api/v1/usage', header }
  const usage = async () => (await guard.usage?.({ request, query: '' }))?.limits
  const full = [
    { name: 'burst', quota: 600, remaining: 600, resetsAt: start },
    { name: 'month', quota: 1_000, remaining: 1_000, resetsAt: start },
  ]
  expect([await usage(), await usage()]).toEqual([full, full])
  await ask({ headers, cost: 10 })
  await runtime.advance(450)
  expect(await usage()).toMatchObject([
    { remaining: 594, resetsAt: start + 1_000 },
    { remaining: 990, resetsAt: Date.UTC(2026, 11) },
  ])
})
