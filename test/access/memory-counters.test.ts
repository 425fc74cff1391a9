import { describe, expect, it } from 'vitest'

import { createMemoryCounters } from '../../src/access/index.ts'
import type { Decision, Limit } from '../../src/access/index.ts'
import { limitsOf } from '../../src/access/plans.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const START = Date.UTC(2026, 10, 20, 18)

/** Opens counters on a clock that starts at `start`. */
function open({ start = START, maxClients = 100_000 } = {}) {
  const runtime = virtualRuntime(start)
  let time = start
  const counters = createMemoryCounters({ maxClients })
  const context = { runtime: { ...runtime, now: () => time }, emit: () => {} }
  const { take, giveBack } = counters.open(context)
  return {
    counters,
    context,
    take: (client: string, limits: readonly Limit[], cost = 1): Decision => {
      const decision = take(client, limits, cost)
      if (decision instanceof Promise) throw new Error('memory needs no promise')
      return decision
    },
    giveBack,
    /** Sets the clock. */
    at: (now: number): void => void (time = now),
    now: () => time,
  }
}

/** Takes 1 until it is refused; returns the number of grants. */
function drain(take: () => Decision): number {
  for (let grants = 0; ; grants += 1) if (!take().granted) return grants
}

describe('memory counters', () => {
  it.each(['3/s', '7/min', '1/day', '99999999/day', '100000000/86399s', '997/61s'])(
    'do not drift in many requests at the exact rate of %s',
    (burst) => {
      const limits = limitsOf({ burst }, 'a')
      const [{ quota, window } = { quota: 0, window: 0 }] = limits
      const { take, at } = open()
      const each = Number(window) / quota
      // Drained first, so that every further grant needs the whole interval.
      expect(take('a', limits, quota).granted).toBe(true)
      let refused = 0
      const COUNT = 300_000
      for (let number = 1; number <= COUNT; number += 1) {
        const due = START + Math.ceil(number * each - 1e-7)
        at(due)
        if (!take('a', limits, 1).granted) refused += 1
      }
      expect(refused).toBe(0)
      // As many as the time permits, within the requests of the last ms.
      expect(drain(() => take('a', limits))).toBeLessThanOrEqual(Math.ceil(1 / each))
    },
  )

  it.each(['3/s', '7/min', '13/17s', '100000000/day'])('return the exact wait of %s', (burst) => {
    const limits = limitsOf({ burst }, 'a')
    const [{ quota } = { quota: 0 }] = limits
    const { take, at, now } = open()
    take('a', limits, quota)
    let refusals = 0
    for (let round = 1; round < 200; round += 1) {
      const cost = 1 + (round % Math.min(10, quota))
      const { granted, states } = take('a', limits, cost)
      if (granted) continue
      refusals += 1
      const [{ wait } = { wait: 0 }] = states
      expect(Number.isInteger(wait)).toBe(true)
      at(now() + wait - 1)
      expect(take('a', limits, cost).granted).toBe(false)
      at(now() + 1)
      expect(take('a', limits, cost).granted).toBe(true)
    }
    expect(refusals).toBeGreaterThan(20)
  })

  it('begin a month at its first ms in UTC', () => {
    for (const month of [0, 1, 10, 11]) {
      const end = Date.UTC(2027, month + 1)
      const { take, at } = open({ start: end - 1 })
      const limits = limitsOf({ month: 2 }, 'a')
      expect(drain(() => take('a', limits))).toBe(2)
      expect(take('a', limits)).toMatchObject({ states: [{ wait: 1, reset: 1 }] })
      at(end)
      expect(drain(() => take('a', limits))).toBe(2)
      expect(take('a', limits).states[0]?.wait).toBe(Date.UTC(2027, month + 2) - end)
    }
  })

  it('keep what was used in the first ms of a month', () => {
    const start = Date.UTC(2026, 11)
    const { take, at } = open({ start })
    const limits = limitsOf({ month: 5 }, 'a')
    expect(take('a', limits, 2)).toMatchObject({ states: [{ remaining: 3 }] })
    at(start + MINUTE)
    expect(take('a', limits, 2)).toMatchObject({ states: [{ remaining: 1 }] })
  })

  it('give back no more than the quota', () => {
    const { take, giveBack } = open()
    const limits = limitsOf({ burst: '5/min', month: 8 }, 'a')
    take('a', limits, 3)
    giveBack('a', limits, 2)
    expect(take('a', limits).states.map(({ remaining }) => remaining)).toEqual([3, 6])
    for (let number = 0; number < 50; number += 1) giveBack('a', limits, 10)
    expect(drain(() => take('a', limits))).toBe(5)
    giveBack('never seen', limits, 10)
    expect(drain(() => take('never seen', limits))).toBe(5)
  })

  it('give back no second burst for requests that end late', () => {
    const limits = limitsOf({ burst: '60/min', month: 1_000 }, 'a')
    for (const held of [0, 10 * SECOND, 45 * SECOND, MINUTE]) {
      const { take, giveBack, at, now } = open()
      const uploads = Array.from({ length: 6 }, () => take('a', limits, 10).takenAt)
      at(now() + held)
      let granted = drain(() => take('a', limits))
      for (const takenAt of uploads) giveBack('a', limits, 9, takenAt)
      granted += drain(() => take('a', limits))
      // Of the uploads, 6 remain taken; their rest is whole again after 6 s.
      expect(granted, String(held)).toBeLessThanOrEqual(60 - Math.max(0, 6 - held / SECOND))
      expect(granted, String(held)).toBeGreaterThanOrEqual(held === 0 ? 54 : held / SECOND)
      expect(take('a', limits).states[1]?.remaining).toBe(1_000 - 6 - granted)
    }
  })

  it('give a late request back whole while the limit is busy', () => {
    const { take, giveBack, at, now } = open()
    const limits = limitsOf({ burst: '60/min' }, 'a')
    expect(drain(() => take('a', limits))).toBe(60)
    at(now() + 10 * SECOND)
    const { takenAt } = take('a', limits, 10)
    at(now() + 5 * SECOND)
    expect(drain(() => take('a', limits))).toBe(5)
    giveBack('a', limits, 9, takenAt)
    expect(drain(() => take('a', limits))).toBe(9)
  })

  it('give nothing of another month back', () => {
    const { take, giveBack, at } = open()
    const limits = limitsOf({ month: 20 }, 'a')
    const { takenAt } = take('a', limits, 10)
    at(Date.UTC(2026, 11))
    expect(drain(() => take('a', limits))).toBe(20)
    giveBack('a', limits, 9, takenAt)
    expect(drain(() => take('a', limits))).toBe(0)
  })

  it('count a cost above the quota as the quota', () => {
    const { take } = open()
    const limits = limitsOf({ burst: '5/min', month: 100 }, 'a')
    expect(take('a', limits, 10)).toMatchObject({
      granted: true,
      states: [{ remaining: 0 }, { remaining: 90 }],
    })
    expect(take('a', limits, 10)).toMatchObject({ granted: false, states: [{ wait: MINUTE }, {}] })
  })

  it('lock no client out for longer than a window after the clock was set back', () => {
    const { take, at } = open()
    const limits = limitsOf({ burst: '10/min', month: 50 }, 'a')
    at(START + 400 * 24 * 60 * MINUTE)
    expect(drain(() => take('a', limits))).toBe(10)
    at(START)
    const { states } = take('a', limits)
    expect(states[0]?.wait).toBeLessThanOrEqual(MINUTE / 10)
    at(START + MINUTE)
    expect(drain(() => take('a', limits))).toBe(10)
  })

  it('count a month again from zero after the clock was a year ahead', () => {
    const { take, at } = open()
    const limits = limitsOf({ month: 5 }, 'a')
    at(Date.UTC(2027, 11, 20))
    expect(drain(() => take('a', limits))).toBe(5)
    at(START)
    expect(take('a', limits).granted).toBe(false)
    at(Date.UTC(2026, 11, 1))
    expect(drain(() => take('a', limits))).toBe(5)
  })

  it('grant one quota more at most for each time that the clock is set ahead', () => {
    const { take, at } = open()
    const limits = limitsOf({ burst: '10/min', month: 50 }, 'a')
    expect(drain(() => take('a', limits))).toBe(10)
    at(START + 10_000 * MINUTE)
    expect(drain(() => take('a', limits))).toBe(10)
    at(START)
    expect(drain(() => take('a', limits))).toBe(0)
  })

  it.each([NaN, Infinity, -Infinity])('do not open or break while the clock is %s', (broken) => {
    const { take, at } = open()
    const limits = limitsOf({ burst: '10/min', month: 12 }, 'a')
    expect(drain(() => take('a', limits))).toBe(10)
    at(broken)
    expect(drain(() => take('a', limits))).toBe(0)
    expect(drain(() => take('new', limits))).toBe(10)
    at(START + MINUTE)
    expect(drain(() => take('a', limits))).toBe(2)
    expect(drain(() => take('new', limits))).toBe(2)
  })

  it('keep what a client used when its plan changes', () => {
    const { take } = open()
    const small = limitsOf({ burst: '10/min', month: 100 }, 'small')
    const large = limitsOf({ burst: '1000/h', month: 1_000 }, 'large')
    expect(drain(() => take('a', small))).toBe(10)
    expect(take('a', large)).toMatchObject({
      granted: true,
      states: [{ remaining: 989 }, { remaining: 989 }],
    })
    expect(take('a', small)).toMatchObject({ granted: false })
    const monthly = limitsOf({ month: 12 }, 'monthly')
    expect(drain(() => take('a', monthly))).toBe(1)
    expect(drain(() => take('a', limitsOf({ burst: '3/min' }, 'none')))).toBe(3)
  })

  it('count together in two handlers, also with equal limits in different arrays', () => {
    const { counters, context, take } = open()
    const other = counters.open(context)
    const limits = limitsOf({ burst: '10/min', month: 100 }, 'a')
    const equal = limitsOf({ burst: '10/min', month: 100 }, 'a')
    for (let number = 0; number < 5; number += 1) {
      expect(take('a', limits).granted).toBe(true)
      expect(other.take('a', equal, 1)).toMatchObject({ granted: true })
    }
    expect(take('a', limits).granted).toBe(false)
    expect(other.take('a', equal, 1)).toMatchObject({ granted: false })
  })
})

describe('memory counters with many clients', () => {
  const limits = limitsOf({ burst: '10/min' }, 'a')

  it('drop entries whose limits are whole again: a million clients fit where few are active', () => {
    // At 1,000 new clients a second, each of which is whole again after 6 s, 6,000 are active.
    const { take, at } = open({ maxClients: 30_000 })
    let shared = 0
    for (let number = 0; number < 1_000_000; number += 1) {
      at(START + number)
      const [{ remaining } = { remaining: 0 }] = take(`address:${number}`, limits).states
      if (remaining !== 9) shared += 1
    }
    expect(shared).toBe(0)
  })

  it('share one more among new clients of a plan at capacity, and never open an active one again', () => {
    const { take, at, giveBack } = open({ maxClients: 1_000 })
    for (let number = 0; number < 1_000; number += 1) {
      expect(drain(() => take(`known ${number}`, limits))).toBe(10)
    }
    let granted = 0
    for (let number = 0; number < 50_000; number += 1) {
      if (take(`new ${number}`, limits).granted) granted += 1
      giveBack(`new ${number}`, limits, 10)
    }
    expect(granted).toBe(10)
    for (let number = 0; number < 1_000; number += 1) {
      expect(take(`known ${number}`, limits).granted).toBe(false)
    }
    // Another plan has its own.
    const other = limitsOf({ burst: '3/min' }, 'other')
    expect(drain(() => take('of another plan', other))).toBe(3)
    // A minute later all are whole again, and new clients are counted one by one.
    at(START + MINUTE)
    let own = 0
    for (let number = 0; number < 500; number += 1) {
      if (drain(() => take(`later ${number}`, limits)) === 10) own += 1
    }
    expect(own).toBe(500)
  })

  it('count keys one by one while addresses use up their entries', () => {
    const { take } = open({ maxClients: 100 })
    for (let number = 0; number < 200; number += 1) take(`address:203.0.113.${number}`, limits)
    for (let number = 0; number < 100; number += 1) {
      expect(drain(() => take(`key:${number}`, limits))).toBe(10)
    }
    expect(drain(() => take('address:198.51.100.1', limits))).toBe(0)
  })
})
