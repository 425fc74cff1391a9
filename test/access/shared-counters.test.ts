import { describe, expect, it } from 'vitest'

import { createMemoryCounters } from '../../src/access/index.ts'
import { START, burst, createFleet, excessOf, month, wholeNumbersFrom } from './fleet.ts'

/** The ends of months: also of February in a leap year, and before a year that begins on a Monday. */
const MONTH_ENDS = [
  [2026, 11],
  [2024, 0],
  [2024, 2],
  [2027, 1],
].map(([year = 0, month = 0]) => Date.UTC(year, month))

const KINDS = {
  'in memory': { counters: () => createMemoryCounters() },
  'in Redis': {},
} as const

describe.each(Object.entries(KINDS))('eight processes with counters %s', (_name, counters) => {
  it('admit never more than the limits, however much is given back over the end of a month', async () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const random = wholeNumbersFrom(seed)
      const quota = [7, 40, 600][random(3)] ?? 0
      const window = [3_000, 60_000][random(2)] ?? 0
      const monthly = 30 + random(300)
      const monthEnd = MONTH_ENDS[seed % MONTH_ENDS.length] ?? 0
      const start = monthEnd - random(20_000)
      const limits = [burst(quota, window), month(monthly)]
      const fleet = createFleet({ processes: 8, limits, start, ...counters })
      const open: { cost: number; giveBack(cost: number): void }[] = []
      for (let step = 0; step < 150; step += 1) {
        const cost = 1 + random(10)
        const { granted, giveBack } = await fleet.take(random(8), Math.min(cost, quota))
        if (granted && giveBack) open.push({ cost: Math.min(cost, quota), giveBack })
        if (random(3) === 0) {
          const [late] = open.splice(random(open.length || 1), 1)
          late?.giveBack(random(late.cost + 1))
        }
        if (random(3) === 0) await fleet.runtime.advance(random(random(8) === 0 ? window : 300))
      }
      expect(excessOf(fleet.admitted, quota, window), `seed ${seed}`).toBeLessThanOrEqual(1e-6)
      for (const isBefore of [true, false]) {
        const of = fleet.admitted.filter(({ at }) => at < monthEnd === isBefore)
        const sum = of.reduce((total, { cost }) => total + cost, 0)
        expect(sum, `seed ${seed}`).toBeLessThanOrEqual(monthly)
      }
    }
  })

  it('use at least 95 % of a limit under even load', async () => {
    const fleet = createFleet({ processes: 8, limits: [burst(600, 60_000)], ...counters })
    for (let step = 0; step < 9_000; step += 1) {
      await fleet.take(step)
      await fleet.runtime.advance(20)
    }
    // 600 at once, and three minutes of refill.
    expect(fleet.total()).toBeGreaterThan(0.95 * 2_400)
    expect(excessOf(fleet.admitted, 600, 60_000)).toBeLessThanOrEqual(1e-6)
  })

  it('use the whole month where a tenth of the requests is given back', async () => {
    const fleet = createFleet({ processes: 8, limits: [month(3_000)], ...counters })
    for (let step = 0; step < 4_000; step += 1) {
      const { granted, giveBack } = await fleet.take(step)
      if (granted && step % 10 === 0) giveBack?.(1)
      await fleet.runtime.advance(20)
    }
    expect(fleet.total()).toBeGreaterThan(0.99 * 3_000)
    expect(fleet.total()).toBeLessThanOrEqual(3_000)
  })
})

describe('counters in Redis', () => {
  it('make one call for each request, which also gives back', async () => {
    const { take, redis } = createFleet({ processes: 1, limits: [burst(10, 60_000), month(100)] })
    const first = await take(0, 10)
    expect(first.states.map(({ remaining }) => remaining)).toEqual([0, 90])
    first.giveBack?.(4)
    expect(redis.calls).toHaveLength(1)
    const second = await take(0, 1)
    expect(second.states.map(({ remaining }) => remaining)).toEqual([3, 93])
    expect(redis.calls).toHaveLength(2)
    expect((await take(0, 3)).states.map(({ remaining }) => remaining)).toEqual([0, 90])
  })

  it('read the state for a cost of 0, and write nothing', async () => {
    const { take, redis } = createFleet({ processes: 1, limits: [burst(10, 60_000), month(100)] })
    expect(await take(0, 0)).toMatchObject({ granted: true, states: [{ remaining: 10 }, {}] })
    expect(redis.states.size).toBe(0)
    await take(0, 4)
    const read = await take(0, 0)
    expect(read.states.map(({ remaining }) => remaining)).toEqual([6, 96])
  })

  it('grant no second month after Redis lost its data, in any process', async () => {
    const fleet = createFleet({ processes: 8, limits: [month(200)] })
    for (let step = 0; step < 120; step += 1) await fleet.take(step)
    fleet.redis.states.clear()
    await fleet.runtime.advance(5)
    // The first process to call knows of fewer requests than others.
    for (let step = 0; step < 200; step += 1) await fleet.take(step)
    expect(fleet.total()).toBeLessThanOrEqual(200 + 8)
    expect(fleet.total()).toBeGreaterThanOrEqual(0.95 * 200)
    await fleet.runtime.advance(Date.UTC(2026, 11) - START)
    expect(await fleet.take(0)).toMatchObject({ states: [{ remaining: 199 }] })
  })

  it('grant no second month after Redis lost the last changes of its data', async () => {
    const fleet = createFleet({ processes: 2, limits: [month(50)] })
    await fleet.take(0)
    const saved = [...fleet.redis.states]
    await fleet.runtime.advance(5)
    for (let step = 0; step < 39; step += 1) await fleet.take(step)
    for (const [key, state] of saved) fleet.redis.states.set(key, state)
    await fleet.runtime.advance(5)
    for (let step = 0; step < 50; step += 1) await fleet.take(step)
    expect(fleet.total()).toBeLessThanOrEqual(50 + 2)
  })

  it('lower the count of a month where others gave back, although a process has seen more', async () => {
    const { take, runtime } = createFleet({ processes: 2, limits: [month(100)] })
    const taken = await take(0, 10)
    expect((await take(1, 10)).states[0]?.remaining).toBe(80)
    await runtime.advance(5)
    taken.giveBack?.(10)
    expect((await take(0, 1)).states[0]?.remaining).toBe(89)
    await runtime.advance(5)
    expect((await take(1, 1)).states[0]?.remaining).toBe(88)
  })
})
