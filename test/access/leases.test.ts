import { describe, expect, it } from 'vitest'

import { GuardedCallError } from '../../src/access/counters.ts'
import type { SharedReply } from '../../src/access/shared-count.ts'
import { MINUTE } from '../virtual-runtime.ts'
import { START, burst, createFleet, excessOf, month, randomFrom } from './fleet.ts'
import type { FleetOptions } from './fleet.ts'

describe('leased counters never exceed a burst limit in any interval', () => {
  it.each(Array.from({ length: 12 }, (_, index) => index))(
    'with 25 seeds from %j',
    async (part) => {
      for (let seed = part * 25; seed < (part + 1) * 25; seed += 1) {
        const { fleet, quota, window } = await runRandomly(seed)
        expect(excessOf(fleet.admitted, quota, window), `seed ${seed}`).toBeLessThanOrEqual(0.01)
      }
    },
  )

  it('and the check finds an excess', () => {
    const admitted = Array.from({ length: 11 }, () => ({ at: 0, cost: 1 }))
    expect(excessOf(admitted, 10, 1_000)).toBe(1)
    expect(excessOf([...admitted.slice(1), { at: 99, cost: 1 }], 10, 1_000)).toBeGreaterThan(0)
    expect(excessOf([...admitted.slice(1), { at: 100, cost: 1 }], 10, 1_000)).toBeCloseTo(0)
  })
})

/** Sends requests in phases, each with another rhythm; some phases end with a pause. */
async function runRandomly(seed: number) {
  const random = randomFrom(seed)
  const pick = (...values: number[]): number => values[Math.floor(random() * values.length)] ?? 1
  const quota = pick(1, 3, 10, 41, 60, 100, 600, 1_000, 6_000)
  const window = pick(1_000, 10_000, MINUTE, 60 * MINUTE)
  const fleet = createFleet({ processes: pick(1, 2, 3, 8, 30), limits: [burst(quota, window)] })
  const life = Math.min(1_000, window / 20)
  const interval = window / quota
  for (let phase = 0; phase < 10; phase += 1) {
    const step = pick(0, interval / 8, interval / 2, interval, life / 30, life / 3, life * 0.99)
    const cost = Math.min(quota, pick(1, 1, 1, 10))
    const failures = pick(0, 0, 0.3, 0.9)
    for (let count = random() * 200; count > 0; count -= 1) {
      const member = Math.floor(random() * 30)
      const isFailure = random() < failures
      void (isFailure ? fleet.fail(member, cost, pick(0, 0, 5)) : fleet.request(member, cost))
      if (step > 0) await fleet.runtime.advance(step * random() * 2)
    }
    await fleet.runtime.advance(pick(0, life / 2, life, life * 1.01, life * 3, window))
  }
  return { fleet, quota, window }
}

interface Load extends FleetOptions {
  /** Requests per minute of the whole fleet. */
  rate: number
  minutes: number
}

/** Sends requests at even intervals to one process after the other; the first minute is not measured. */
async function runEvenly({ rate, minutes, ...options }: Load) {
  const fleet = createFleet(options)
  const measure = () => ({
    admitted: fleet.total(),
    calls: fleet.shared.calls,
    requested: fleet.requested,
  })
  let before = measure()
  for (let sent = 0; sent < rate * minutes; sent += 1) {
    if (sent === rate) before = measure()
    void fleet.request(sent)
    await fleet.runtime.advance(MINUTE / rate)
  }
  await fleet.runtime.advance(10)
  const after = measure()
  const requested = after.requested - before.requested
  return {
    fleet,
    admittedPerMinute: (after.admitted - before.admitted) / (minutes - 1),
    callsPerRequest: (after.calls - before.calls) / requested,
  }
}

describe('leased counters of 8 processes under even load', () => {
  it.each([
    [60, 60],
    [60, 120],
    [600, 600],
    [600, 720],
    [600, 1_200],
    [600, 6_000],
    [6_000, 6_600],
    [6_000, 12_000],
  ])('admit at least 90 %% of %j/min, of %j requests a minute', async (quota, rate) => {
    const limits = [burst(quota, MINUTE)]
    const random = randomFrom(quota)
    const latency = (): number => random() * 3
    const { fleet, admittedPerMinute } = await runEvenly({
      processes: 8,
      limits,
      latency,
      rate,
      minutes: 3,
    })
    expect(admittedPerMinute).toBeGreaterThanOrEqual(0.9 * quota)
    // A permit may be used later by the time that a reply takes.
    const slack = (6 * quota) / MINUTE
    expect(excessOf(fleet.admitted, quota, MINUTE)).toBeLessThanOrEqual(slack)
  })

  it.each([
    [600, 6_000],
    [6_000, 6_000],
    [6_000, 60_000],
    [60_000, 60_000],
  ])('need at most 0.1 calls per request for %j/min and %j requests', async (quota, rate) => {
    const limits = [burst(quota, MINUTE), month(1_000_000_000)]
    const minutes = rate > 10_000 ? 1.25 : 2
    const { callsPerRequest } = await runEvenly({ processes: 8, limits, rate, minutes })
    expect(callsPerRequest).toBeLessThanOrEqual(0.1)
    expect(callsPerRequest).toBeGreaterThan(0)
  })
})

describe('leased counters', () => {
  it('decide at once while permits are in hand', async () => {
    const { member, runtime, shared } = createFleet({ processes: 1, limits: [] })
    await runtime.advance(60 * MINUTE)
    const limits = [burst(6_000, MINUTE)]
    const take = () => member(0).take('key:a', limits, 1)
    for (let count = 0; count < 45; count += 1) await take()
    const { calls } = shared
    expect(calls).toBeLessThan(12)
    const decision = take()
    expect(decision).toMatchObject({ granted: true, states: [{ wait: 0 }] })
    expect(shared.calls).toBe(calls)
    await runtime.advance(1_000)
    expect(take()).toBeInstanceOf(Promise)
  })

  it('take permits for all requests that wait with one call', async () => {
    const fleet = createFleet({ processes: 1, limits: [burst(600, MINUTE)] })
    await fleet.runtime.advance(60 * MINUTE)
    const decisions = Array.from({ length: 100 }, () => fleet.request(0))
    await Promise.all(decisions)
    expect(fleet.total()).toBe(100)
    expect(fleet.shared.calls).toBe(2)
  })

  it('remember a refusal, so that a flood causes few calls', async () => {
    const fleet = createFleet({ processes: 1, limits: [burst(10, MINUTE)] })
    for (let count = 0; count < 10; count += 1) await fleet.request(0)
    const { calls } = fleet.shared
    for (let count = 0; count < 10_000; count += 1) await fleet.request(0)
    expect(fleet.shared.calls - calls).toBeLessThanOrEqual(1)
    const refused = await fleet.request(0)
    expect(refused).toMatchObject({ granted: false, states: [{ remaining: 0 }] })
    expect(refused.states[0]?.wait).toBeCloseTo(6_000)
    await fleet.runtime.advance(5_999)
    expect(await fleet.request(0)).toMatchObject({ granted: false })
    await fleet.runtime.advance(1)
    expect(await fleet.request(0)).toMatchObject({ granted: true })
  })

  it('grant the whole quota at once, and a cost above it when it is whole', async () => {
    const limits = [burst(5, MINUTE), month(100)]
    const fleet = createFleet({ processes: 2, limits })
    expect(await fleet.request(0, 10)).toMatchObject({
      granted: true,
      states: [
        { remaining: 0, reset: MINUTE, wait: 0 },
        { remaining: 90, wait: 0 },
      ],
    })
    expect(await fleet.request(1)).toMatchObject({ granted: false })
  })

  it('grant a request that waits until the time of its refusal', async () => {
    for (const quota of [10, 60, 600, 6_000]) {
      const fleet = createFleet({ processes: 3, limits: [burst(quota, MINUTE)] })
      for (let count = 0; count < 3 * quota; count += 1) await fleet.request(count)
      const refused = await fleet.request(1)
      expect(refused.granted, String(quota)).toBe(false)
      await fleet.runtime.advance(Math.max(...refused.states.map(({ wait }) => wait)))
      expect(await fleet.request(1), String(quota)).toMatchObject({ granted: true })
    }
  })

  it('count clients separately', async () => {
    const fleet = createFleet({ processes: 1, limits: [burst(1, MINUTE)] })
    expect(await fleet.request(0, 1, 'key:a')).toMatchObject({ granted: true })
    expect(await fleet.request(0, 1, 'key:b')).toMatchObject({ granted: true })
    expect(await fleet.request(0, 1, 'key:a')).toMatchObject({ granted: false })
  })

  it('give a failed request back', async () => {
    const limits = [burst(10, MINUTE), month(10)]
    const fleet = createFleet({ processes: 2, limits })
    await fleet.request(0, 10)
    fleet.member(0).giveBack('key:a', limits, 9)
    await fleet.runtime.advance(1_000)
    expect(await fleet.request(1, 9)).toMatchObject({ granted: true })
    expect(await fleet.request(1)).toMatchObject({ granted: false })
  })

  it('forget a refusal when permits are given back', async () => {
    const limits = [burst(10, MINUTE), month(1_000)]
    const fleet = createFleet({ processes: 1, limits })
    const { takenAt } = await fleet.request(0, 10)
    expect(await fleet.request(0)).toMatchObject({ granted: false })
    fleet.member(0).giveBack('key:a', limits, 9, takenAt)
    // No time passes.
    expect(await fleet.request(0, 9)).toMatchObject({ granted: true })
    expect(await fleet.request(0)).toMatchObject({ granted: false })
  })

  it('give no second burst back for a request that ends late', async () => {
    const limits = [burst(60, MINUTE), month(1_000)]
    const fleet = createFleet({ processes: 1, limits })
    const { takenAt } = await fleet.request(0, 10)
    await fleet.runtime.advance(MINUTE)
    expect(await fleet.request(0, 10)).toMatchObject({ granted: true })
    expect(takenAt).toBeDefined()
    fleet.member(0).giveBack('key:a', limits, 9, takenAt)
    await fleet.runtime.advance(1_000)
    // One was refilled; nothing was given back to the burst, and 9 to the month.
    const { states } = await fleet.request(0)
    expect(states.map(({ remaining }) => remaining)).toEqual([50, 988])
  })

  it('wait with a timer only to give permits back', async () => {
    const limits = [burst(600, MINUTE), month(1_000)]
    const fleet = createFleet({ processes: 1, limits })
    await fleet.request(0)
    expect(fleet.runtime.timers()).toBe(0)
    fleet.member(0).giveBack('key:a', limits, 1)
    expect(fleet.runtime.timers()).toBe(1)
    fleet.member(0).close()
    expect(fleet.runtime.timers()).toBe(0)
  })
})

describe('leased counters with a month', () => {
  it.each([[[burst(6_000, MINUTE), month(2_000)]], [[month(2_000)]]])(
    'admit the whole month and no more: %j',
    async (limits) => {
      const { fleet } = await runEvenly({ processes: 8, limits, rate: 1_500, minutes: 3 })
      expect(fleet.total()).toBe(2_000)
    },
  )

  it('give unused permits back to the same month only', async () => {
    const end = Date.UTC(2026, 11)
    for (const [start, used] of [
      [START, 22],
      [end - 500, 1],
    ] as const) {
      const fleet = createFleet({ processes: 2, limits: [month(1_000)], start })
      for (let count = 0; count < 20; count += 1) await fleet.request(0)
      await fleet.runtime.advance(3_000)
      const { states } = await fleet.request(1)
      await fleet.runtime.advance(3_000)
      expect(states[0]?.remaining, String(start)).toBeGreaterThanOrEqual(1_000 - used)
      expect(states[0]?.remaining, String(start)).toBeLessThan(1_000)
    }
  })

  it('admit no request of a new month with permits of the old one', async () => {
    const end = Date.UTC(2026, 11)
    const quota = 1_000
    const fleet = createFleet({ processes: 1, limits: [month(quota)], start: end - 4_010 })
    for (let sent = 0; sent < 80; sent += 1) {
      await fleet.request(0)
      await fleet.runtime.advance(50)
    }
    // 10 ms before the end, the first of these takes a lot that they do not use up.
    await fleet.request(0)
    const { calls } = fleet.shared
    for (let sent = 0; sent < 3; sent += 1) await fleet.request(0)
    expect(fleet.shared.calls).toBe(calls)
    await fleet.runtime.advance(10)
    const before = fleet.total()
    for (let sent = 0; sent < quota + 100; sent += 1) await fleet.request(0)
    expect(fleet.total() - before).toBe(quota)
  })

  it('refuse until the end of the month', async () => {
    const fleet = createFleet({ processes: 1, limits: [month(3)] })
    for (let count = 0; count < 3; count += 1) await fleet.request(0)
    const refused = await fleet.request(0)
    expect(refused.states).toEqual([
      { remaining: 0, reset: Date.UTC(2026, 11) - START, wait: Date.UTC(2026, 11) - START },
    ])
    await fleet.runtime.advance(Date.UTC(2026, 11) - START)
    expect(await fleet.request(0)).toMatchObject({ granted: true })
  })
})

describe('leased counters while the shared ones fail', () => {
  const limits = [burst(6_000, MINUTE)]

  it('serve from permits in hand, then reject', async () => {
    const fleet = createFleet({ processes: 1, limits })
    for (let count = 0; count < 45; count += 1) await fleet.request(0)
    fleet.shared.fault = () => Promise.reject(new Error('connection lost'))
    let served = 0
    const failure = await (async () => {
      for (;;) {
        await fleet.request(0)
        served += 1
      }
    })().catch((error: unknown) => error)
    expect(served).toBeGreaterThan(0)
    expect(failure).toBeInstanceOf(GuardedCallError)
    expect(String(failure)).toContain('connection lost')
  })

  it('reject after 50 ms, then at once, and recover', async () => {
    const fleet = createFleet({ processes: 1, limits })
    fleet.shared.fault = () => new Promise(() => undefined)
    for (let count = 0; count < 5; count += 1) {
      const decision = fleet.request(0)
      decision.catch(() => undefined)
      await fleet.runtime.advance(51)
      await expect(decision).rejects.toThrow('timed out after 50 ms')
    }
    expect(() => fleet.member(0).take('key:a', limits, 1)).toThrow(GuardedCallError)
    expect(fleet.shared.calls).toBe(5)
    fleet.shared.fault = () => undefined
    await fleet.runtime.advance(5_000)
    expect(await fleet.request(0)).toMatchObject({ granted: true })
  })

  it('emit an event without the client when permits cannot be given back', async () => {
    const given = [month(100)]
    const fleet = createFleet({ processes: 1, limits: given })
    await fleet.request(0, 1, 'address:203.0.113.9')
    const error = new Error('WRONGTYPE address:203.0.113.9')
    fleet.shared.fault = () => Promise.reject(error)
    fleet.member(0).giveBack('address:203.0.113.9', given, 1)
    await fleet.runtime.advance(1_000)
    expect(fleet.events).toMatchObject([
      { type: 'counters_failed', operation: 'give_back', reason: 'WRONGTYPE address:…' },
    ])
    const [event] = fleet.events
    expect(event && 'error' in event ? event.error : undefined).not.toHaveProperty('cause')
  })

  it('give permits of a late reply back', async () => {
    const given = [month(100)]
    const fleet = createFleet({ processes: 2, limits: given })
    await fleet.request(1)
    let reply: (reply: SharedReply) => void = () => undefined
    fleet.shared.fault = () => new Promise((resolve) => (reply = resolve))
    const late = fleet.request(0)
    late.catch(() => undefined)
    await fleet.runtime.advance(60)
    await expect(late).rejects.toThrow('timed out')
    fleet.shared.fault = () => undefined
    const now = Math.round(fleet.runtime.now() * 1_000)
    reply({ granted: 1, now, deficit: 0, capacity: 0, used: 2, monthEnd: now + 1_000_000 })
    await fleet.runtime.advance(2_000)
    const returned = fleet.shared.requests.map(({ unused }) => unused)
    expect(returned.reduce((sum, each) => sum + each, 0)).toBe(1)
  })
})
