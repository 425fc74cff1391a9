import { describe, expect, it } from 'vitest'

import { count } from '../../src/access/shared-count.ts'
import type { SharedReply, SharedRequest } from '../../src/access/shared-count.ts'
import { START, excessOf, randomFrom } from './fleet.ts'

const NOW = START * 1_000

const MONTHS = [-1, 0, 1, 2].map((offset) => Date.UTC(2026, 10 + offset) * 1_000)

const IDLE: SharedRequest = {
  quota: 600,
  window: 60_000_000,
  life: 1_000_000,
  monthQuota: 0,
  months: [MONTHS[0] ?? 0, MONTHS[1] ?? 0, MONTHS[2] ?? 0, MONTHS[3] ?? 0],
  need: 0,
  immediate: 0,
  ahead: 0,
  unused: 0,
  unusedAt: 0,
  refund: 0,
  refundAt: 0,
}

/** Shared counters of one client, on a clock in µs. */
function createCounter(terms: Partial<SharedRequest>, start = NOW) {
  const counter = {
    now: start,
    text: undefined as string | undefined,
    call(request: Partial<SharedRequest>): SharedReply {
      const immediate = request.need ?? 0
      const full = { ...IDLE, ...terms, immediate, ...request }
      const { text, reply } = count(counter.text, full, Math.round(counter.now))
      counter.text = text
      return reply
    },
  }
  return counter
}

describe('count() never lends more than the limit, however lots are used', () => {
  it.each(Array.from({ length: 10 }, (_, index) => index))('with 200 seeds from %j', (part) => {
    for (let seed = part * 200; seed < (part + 1) * 200; seed += 1) {
      const { used, quota, window } = useLots(seed)
      expect(excessOf(used, quota, window), `seed ${seed}`).toBeLessThanOrEqual(0.01)
    }
  })
})

/** Takes, uses and gives back lots in every order that a process may choose; returns what was used, in ms. */
function useLots(seed: number) {
  const random = randomFrom(seed)
  const pick = (...values: number[]): number => values[Math.floor(random() * values.length)] ?? 1
  const [quota, window] = [pick(40, 100, 600), pick(20_000_000, 60_000_000)]
  const life = Math.min(1_000_000, window / 20)
  const counter = createCounter({ quota, window, life })
  const used: { at: number; cost: number }[] = []
  let lots: { permits: number; at: number; spent: number }[] = []
  const use = (cost: number): void => {
    if (cost > 0) used.push({ at: counter.now / 1_000, cost })
  }
  for (let step = 0; step < 120; step += 1) {
    // Permits are worth most to a cheat shortly before the end of their life.
    const choice = random()
    const lot = lots[Math.floor(random() * lots.length)]
    if (choice < 0.35) {
      const need = pick(1, 1, 3, 10)
      const { granted, now } = counter.call({ need, ahead: pick(0, 5, 100) })
      if (granted > 0) {
        use(need)
        lots.push({ permits: granted - need, at: now, spent: need })
      }
    } else if (choice < 0.5 && lot) {
      lots = lots.filter((each) => each !== lot)
      counter.call({ unused: lot.permits, unusedAt: lot.at, need: 0 })
    } else if (choice < 0.65 && lot && counter.now - lot.at <= life) {
      use(lot.permits)
      lot.permits = 0
    } else if (choice < 0.75) {
      const all = lots.filter((each) => counter.now - each.at <= life)
      use(all.reduce((sum, { permits }) => sum + permits, 0))
      for (const each of all) each.permits = 0
      const { granted } = counter.call({ need: 1, immediate: quota })
      use(granted)
    } else {
      counter.now += life * pick(0.01, 0.2, 0.49, 0.99, 1, 2.5) * pick(1, 1, 0.1)
    }
  }
  return { used, quota, window: window / 1_000 }
}

describe('count()', () => {
  it('keeps the limit smaller by one life after a lot, until it was whole for that long', () => {
    const counter = createCounter({})
    expect(counter.call({ need: 600 })).toMatchObject({ granted: 600, capacity: 60_000_000 })
    counter.now += 60_000_000
    expect(counter.call({ need: 1, ahead: 100 })).toMatchObject({ granted: 59 })
    expect(counter.call({ need: 1, immediate: 600 })).toMatchObject({ granted: 590 - 59 })
    counter.now += 63_000_000
    expect(counter.call({ need: 600 })).toMatchObject({ granted: 600 })
  })

  it('takes permits back in full while the limit was not whole meanwhile', () => {
    const counter = createCounter({})
    counter.call({ need: 300 })
    const { now: unusedAt, deficit } = counter.call({ need: 1, ahead: 20 })
    counter.now += 1_000_000
    expect(counter.call({ unused: 20, unusedAt }).deficit).toBe(deficit - 1_000_000 - 2_000_000)
  })

  it('takes fewer back where the limit would have been whole meanwhile', () => {
    const counter = createCounter({})
    const { now: unusedAt } = counter.call({ need: 1, ahead: 20 })
    counter.now += 1_500_000
    counter.call({ need: 1 })
    const { deficit } = counter.call({})
    expect(counter.call({ unused: 20, unusedAt }).deficit).toBe(deficit - 2_000_000 + 1_500_000)
  })

  it('takes nothing back that is older than two lives, or that was not lent', () => {
    const counter = createCounter({})
    counter.call({ need: 300 })
    const { now: unusedAt } = counter.call({ need: 1, ahead: 20 })
    counter.now += 2_000_001
    const { deficit } = counter.call({})
    expect(counter.call({ unused: 20, unusedAt }).deficit).toBe(deficit)
    const other = createCounter({})
    const taken = other.call({ need: 300 })
    expect(other.call({ unused: 20, unusedAt: taken.now }).deficit).toBe(taken.deficit)
  })

  it('ignores times that another clock or plan left behind', () => {
    const far = 9_007_199_254_740_991
    const counter = createCounter({ monthQuota: 100 })
    counter.text = [far, far, far, 0, 0, far, far].join(' ')
    expect(counter.call({ need: 1 })).toMatchObject({ granted: 0, used: 0 })
    counter.now += 60_000_000
    expect(counter.call({ need: 1 })).toMatchObject({ granted: 1, used: 1 })
  })

  const STATES = ['nonsense', '1 2 3', '1 2 3 4 5 6 7 8', '-1 0 0 0 0 0 0', '1e3 0 0 0 0 0 0']
  it.each(['', 7, null, ...STATES])('replaces the state %j', (text) => {
    const { reply, text: replaced } = count(text, { ...IDLE, need: 1, immediate: 1 }, NOW)
    expect(reply).toMatchObject({ granted: 1, deficit: 100_000 })
    expect(count(replaced, { ...IDLE, need: 1, immediate: 1 }, NOW).reply.deficit).toBe(200_000)
  })

  it('throws when the clocks are months apart', () => {
    for (const now of [Date.UTC(2026, 8, 30) * 1_000, Date.UTC(2027, 1, 2) * 1_000]) {
      expect(() => count(undefined, { ...IDLE, need: 1 }, now)).toThrow('months apart')
    }
  })

  it('keeps a state until it does not matter', () => {
    const keepFor = (request: Partial<SharedRequest>): number =>
      count(undefined, { ...IDLE, ...request }, NOW).keepFor
    expect(keepFor({ need: 1 })).toBe(1_100)
    expect(keepFor({ need: 1, ahead: 1 })).toBe(4_000)
    expect(keepFor({ need: 1, monthQuota: 5 })).toBe(Date.UTC(2026, 11) - START)
  })
})
