import { describe, expect, it } from 'vitest'

import { freshFor, hold, isFresh, isUsable } from '../../src/cache/freshness.ts'
import type { Held, Lifetime } from '../../src/cache/freshness.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const START = Date.UTC(2026, 10, 20, 12)
const HOUR = 3_600_000
const LIFETIME: Lifetime = { nextUpdateAt: START + HOUR, longestLife: 25 * HOUR }

/** A value loaded at the start, and the machine it is held on. */
function holding(
  lifetime: Partial<Lifetime> = {},
  random = 0,
): { runtime: VirtualRuntime; held: Held<string> } {
  const runtime = virtualRuntime(START, random)
  const loaded = { value: 'a', loadedAt: START }
  return { runtime, held: hold(loaded, { ...LIFETIME, ...lifetime }, runtime) }
}

describe('a value in memory', () => {
  it('is due when its source promised, and refreshed half a minute to five minutes later', () => {
    const refreshAfter = (random: number): number =>
      holding({}, random).held.refreshAt - LIFETIME.nextUpdateAt
    expect([0, 0.5, 1].map(refreshAfter)).toEqual([30_000, 165_000, 300_000])
    expect(holding().held).toMatchObject({
      value: 'a',
      loadedAt: START,
      dueAt: LIFETIME.nextUpdateAt,
    })
  })

  it('is due ten minutes after loading at the soonest', () => {
    const { held } = holding({ nextUpdateAt: START + 599_999 })
    expect([held.dueAt, held.refreshAt]).toEqual([START + 600_000, START + 630_000])
  })

  it('is refreshed when it is allowed no longer life, however far away the promise is', () => {
    const { held } = holding({ nextUpdateAt: START + 100 * HOUR })
    expect([held.dueAt, held.refreshAt]).toEqual([START + 100 * HOUR, START + 25 * HOUR])
  })

  it('is fresh until its refresh is due', async () => {
    const { runtime, held } = holding()
    expect([freshFor(held), isFresh(held)]).toEqual([HOUR + 30_000, true])
    await runtime.advance(HOUR + 29_999)
    expect([freshFor(held), isFresh(held)]).toEqual([1, true])
    await runtime.advance(1)
    expect([freshFor(held), isFresh(held)]).toEqual([0, false])
    await runtime.advance(1)
    expect([freshFor(held), isFresh(held)]).toEqual([-1, false])
    expect(isFresh(undefined)).toBe(false)
  })

  it('is usable until it is overdue by more than is allowed', async () => {
    const { runtime, held } = holding()
    await runtime.advance(HOUR + 5_000)
    expect([isUsable(held, 5_000), isUsable(held, 4_999)]).toEqual([true, false])
  })
})
