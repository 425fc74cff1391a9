import { describe, expect, it } from 'vitest'

import { createMemoryCounters } from '../../src/access/index.ts'
import type { Decision, Limit } from '../../src/access/index.ts'
import { limitsOf } from '../../src/access/plans.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const START = Date.UTC(2026, 10, 20, 18)

function open({ start = START, maxClients = 100_000 } = {}) {
  const runtime = virtualRuntime(start)
  let time = start
  const counters = createMemoryCounters({ maxClients })
  const context = { runtime: { ...runtime, now: () => time }, emit: () => {} }
  const { take } = counters.open(context)
  return {
    take: (client: string, limits: readonly Limit[], cost = 1): Decision => {
      const decision = take(client, limits, cost)
      if (decision instanceof Promise) throw new Error('memory needs no promise')
      return decision
    },
    at: (now: number): void => void (time = now),
    now: () => time,
  }
}

/** Takes 1 until it is refused; returns the number of grants. */
function drain(take: () => Decision): number {
  for (let grants = 0; ; grants += 1) if (!take().granted) return grants
}

describe('memory counters', () => {
  it.each(['3/s', '997/61s', '100000000/86399s'])(
    'do not drift in many requests at the exact rate of %s',
    (burst) => {
      const limits = limitsOf(burst, 'a')
      const [{ quota, window } = { quota: 0, window: 0 }] = limits
      const { take, at } = open()
      // Drained first, so that every further grant needs the whole interval.
      take('a', limits, quota)
      let refused = 0
      for (let number = 1; number <= 100_000; number += 1) {
        at(START + Math.ceil((number * Number(window)) / quota - 1e-7))
        if (!take('a', limits).granted) refused += 1
      }
      expect(refused).toBe(0)
      expect(drain(() => take('a', limits))).toBeLessThanOrEqual(Math.ceil(quota / Number(window)))
    },
  )

  it.each(['3/s', '7/min', '997/61s', '100000000/86399s'])(
    'return the exact wait of %s',
    (burst) => {
      const limits = limitsOf(burst, 'a')
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
    },
  )

  // Leap years, the shortest month, and a year that begins on a Monday.
  it.each(['2024-01', '2024-02', '2026-02', '2026-11', '2026-12', '2028-02', '2029-01'])(
    'begin the month after %s at its first ms in UTC, from which on use is kept',
    (month) => {
      const [year = 0, number = 0] = month.split('-').map(Number)
      const [end, next] = [Date.UTC(year, number), Date.UTC(year, number + 1)]
      const { take, at } = open({ start: end - 1 })
      const limits = limitsOf('2/month', 'a')
      expect(drain(() => take('a', limits))).toBe(2)
      expect(take('a', limits)).toMatchObject({ states: [{ wait: 1, reset: 1 }] })
      at(end)
      expect(take('a', limits)).toMatchObject({ granted: true, states: [{ remaining: 1 }] })
      // New clients have the entries dropped that are whole again.
      at(end + MINUTE)
      for (let other = 0; other < 9; other += 1) take(`new ${other}`, limits)
      expect(drain(() => take('a', limits))).toBe(1)
      expect(take('a', limits).states[0]).toEqual({
        remaining: 0,
        reset: next - end - MINUTE,
        wait: next - end - MINUTE,
      })
    },
  )

  it('give back no more than the quota', () => {
    const { take } = open()
    const limits = limitsOf('5/min, 8/month', 'a')
    const first = take('a', limits, 3)
    first.giveBack?.(2)
    expect(take('a', limits).states.map(({ remaining }) => remaining)).toEqual([3, 6])
    for (let number = 0; number < 50; number += 1) first.giveBack?.(10)
    expect(drain(() => take('a', limits))).toBe(5)
  })

  it('take nothing for a cost of 0, and keep no entry', () => {
    const { take } = open({ maxClients: 1 })
    const limits = limitsOf('5/min, 8/month', 'a')
    expect(take('other', limits, 0)).toMatchObject({
      granted: true,
      states: [{ remaining: 5 }, {}],
    })
    expect(drain(() => take('a', limits))).toBe(5)
    expect(take('a', limits, 0).states.map(({ remaining }) => remaining)).toEqual([0, 3])
    expect(take('a', limits, 0).states.map(({ wait }) => wait)).toEqual([0, 0])
  })

  it('give back no second burst for requests that end late', () => {
    const limits = limitsOf('60/min, 1000/month', 'a')
    for (const held of [0, 10 * SECOND, 45 * SECOND, MINUTE]) {
      const { take, at, now } = open()
      const uploads = Array.from({ length: 6 }, () => take('a', limits, 10))
      at(now() + held)
      let granted = drain(() => take('a', limits))
      for (const upload of uploads) upload.giveBack?.(9)
      granted += drain(() => take('a', limits))
      // Of the uploads, 6 remain taken; their rest is whole again after 6 s.
      expect(granted, String(held)).toBeLessThanOrEqual(60 - Math.max(0, 6 - held / SECOND))
      expect(granted, String(held)).toBeGreaterThanOrEqual(held === 0 ? 54 : held / SECOND)
      expect(take('a', limits).states[1]?.remaining).toBe(1_000 - 6 - granted)
    }
  })

  it('give a late request back whole where none came after it', () => {
    const { take, at, now } = open()
    const limits = limitsOf('60/min', 'a')
    expect(drain(() => take('a', limits))).toBe(60)
    at(now() + 10 * SECOND)
    const late = take('a', limits, 10)
    at(now() + 5 * SECOND)
    late.giveBack?.(9)
    expect(drain(() => take('a', limits))).toBe(5 + 9)
  })

  it('lock no client out for longer than a window after the clock was set back', () => {
    const { take, at } = open()
    const limits = limitsOf('10/min, 50/month', 'a')
    at(START + 400 * 24 * 60 * MINUTE)
    expect(drain(() => take('a', limits))).toBe(10)
    at(START)
    const { states } = take('a', limits)
    expect(states[0]?.wait).toBeLessThanOrEqual(MINUTE / 10)
    at(START + MINUTE)
    expect(drain(() => take('a', limits))).toBe(10)
  })

  it.each([NaN, Infinity, -Infinity])('do not open or break while the clock is %s', (broken) => {
    const { take, at } = open()
    const limits = limitsOf('10/min, 12/month', 'a')
    expect(drain(() => take('a', limits))).toBe(10)
    at(broken)
    expect(drain(() => take('a', limits))).toBe(0)
    expect(drain(() => take('new', limits))).toBe(10)
    at(START + MINUTE)
    expect(drain(() => take('a', limits))).toBe(2)
    expect(drain(() => take('new', limits))).toBe(2)
  })

  it('keep the time until a limit is whole, and what was used of a month, when the plan changes', () => {
    const { take } = open()
    const small = limitsOf('10/min, 100/month', 'small')
    const large = limitsOf('1000/h, 1000/month', 'large')
    expect(drain(() => take('a', small))).toBe(10)
    // A minute of 1,000 an hour is 16.7.
    expect(take('a', large)).toMatchObject({
      granted: true,
      states: [{ remaining: 982 }, { remaining: 989 }],
    })
    expect(take('a', small)).toMatchObject({ granted: false })
    expect(drain(() => take('a', limitsOf('12/month', 'monthly')))).toBe(1)
    expect(drain(() => take('a', limitsOf('3/min', 'none')))).toBe(3)
    expect(drain(() => take('a', limitsOf('13/month', 'monthly')))).toBe(1)
  })
})

describe('memory counters with many clients', () => {
  const limits = limitsOf('10/min', 'a')

  it('drop entries whose limits are whole again: 200,000 clients fit where few are active', () => {
    // At 1,000 new clients a second, each of which is whole again after 6 s, 6,000 are active.
    const { take, at } = open({ maxClients: 30_000 })
    let shared = 0
    for (let number = 0; number < 200_000; number += 1) {
      at(START + number)
      const [{ remaining } = { remaining: 0 }] = take(`address:${number}`, limits).states
      if (remaining !== 9) shared += 1
    }
    expect(shared).toBe(0)
  })

  it('share one more among new clients of a plan at capacity, and never open an active one again', () => {
    const { take, at } = open({ maxClients: 1_000 })
    for (let number = 0; number < 1_000; number += 1) {
      expect(drain(() => take(`known ${number}`, limits))).toBe(10)
    }
    let granted = 0
    for (let number = 0; number < 50_000; number += 1) {
      if (take(`new ${number}`, limits).granted) granted += 1
    }
    expect(granted).toBe(10)
    for (let number = 0; number < 1_000; number += 1) {
      expect(take(`known ${number}`, limits).granted).toBe(false)
    }
    // Another plan has its own.
    const other = limitsOf('3/min', 'other')
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

  /** The client of an address in its own /64; `network` has the first two groups. */
  const inNetwork = (network: string, site: number, subnet: number): string =>
    `address:${network}:${site.toString(16)}:${subnet.toString(16)}::/64`

  it('count IPv6 clients by /48 from half of the entries on, and by /32 from three quarters on', () => {
    const { take } = open({ maxClients: 100 })
    for (let host = 0; host < 50; host += 1) take(`address:203.0.113.${host}`, limits)
    expect(drain(() => take(inNetwork('2001:db8', 1, 1), limits))).toBe(10)
    expect(drain(() => take(inNetwork('2001:db8', 1, 2), limits))).toBe(0)
    expect(drain(() => take(inNetwork('2001:db8', 2, 1), limits))).toBe(10)
    for (let host = 50; host < 75; host += 1) take(`address:203.0.113.${host}`, limits)
    expect(drain(() => take(inNetwork('2001:db9', 1, 1), limits))).toBe(10)
    expect(drain(() => take(inNetwork('2001:db9', 2, 1), limits))).toBe(0)
    expect(drain(() => take(inNetwork('2001:dba', 1, 1), limits))).toBe(10)
  })

  it('count each new address of others, while one IPv6 network fills the table', () => {
    const { take } = open({ maxClients: 4_000 })
    for (let number = 0; number < 8_000; number += 1) {
      take(inNetwork('2001:db8', number % 4_000, number), limits)
    }
    const first = [0, 1, 2].map((host) => take(`address:203.0.113.${host}`, limits))
    const others = Array.from({ length: 500 }, (_, site) =>
      take(inNetwork('2a00:1', 0, site), limits),
    )
    const [{ remaining } = { remaining: 0 }] = others[0]?.states ?? []
    expect(first.map(({ states }) => states[0]?.remaining)).toEqual([9, 9, 9])
    // Of other networks, one entry for each /32.
    expect(remaining).toBe(9)
    const strangers = Array.from({ length: 200 }, (_, host) =>
      take(`address:198.51.100.${host}`, limits),
    )
    expect(strangers.every(({ granted }) => granted)).toBe(true)
  })

  it('open no used network again when the pressure is over', () => {
    const { take, at } = open({ maxClients: 8 })
    const slow = limitsOf('10/day', 'slow')
    for (let host = 0; host < 4; host += 1) take(`address:203.0.113.${host}`, limits)
    expect(drain(() => take(inNetwork('2001:db8', 1, 1), slow))).toBe(10)
    at(START + MINUTE)
    // New clients have the entries of the first ones dropped.
    for (let round = 0; round < 9; round += 1) take('address:192.0.2.1', limits)
    for (let host = 10; host < 13; host += 1) take(`address:203.0.113.${host}`, limits)
    expect(drain(() => take(inNetwork('2001:db8', 1, 1), slow))).toBe(0)
    expect(drain(() => take(inNetwork('2001:db8', 1, 9), slow))).toBe(0)
    expect(drain(() => take(inNetwork('2001:db8', 2, 1), slow))).toBe(10)
  })
})
