import { describe, expect, it } from 'vitest'

import { hold } from '../../src/cache/freshness.ts'
import type { Held } from '../../src/cache/freshness.ts'
import { createTurns } from '../../src/cache/turns.ts'
import type { Turns } from '../../src/cache/turns.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const START = Date.UTC(2026, 10, 20, 12)
const HOUR = 3_600_000

interface Watched {
  runtime: VirtualRuntime
  turns: Turns
  /** Whether claims are granted. */
  store: { grants: boolean }
  /** Until when claims were asked for, by how many ms from then on. */
  claims: number[]
  /** What is held, and whether that may be answered with. */
  shelf: { held: Held<string> | undefined; isUsable: boolean }
  /** Holds something new. */
  renew(): void
}

function watched(): Watched {
  const runtime = virtualRuntime(START)
  const store = { grants: true }
  const claims: number[] = []
  const shelf: Watched['shelf'] = { held: undefined, isUsable: true }
  const turns = createTurns<string>({
    runtime,
    shelf: {
      held: () => shelf.held,
      usable: () => (shelf.isUsable ? shelf.held : undefined),
      put() {},
      lookUp: () => undefined,
    },
    stored: {
      read: async () => {},
      write: async () => {},
      async claim(expiresAt) {
        claims.push(expiresAt - runtime.now())
        return store.grants
      },
    },
  })
  const lifetime = { nextUpdateAt: START, longestLife: HOUR }
  const renew = (): void => {
    shelf.held = hold({ value: 'a', loadedAt: START }, lifetime, runtime)
  }
  renew()
  return { runtime, turns, store, claims, shelf, renew }
}

describe('a turn', () => {
  it('is always ours where nothing is shared', async () => {
    const { runtime } = watched()
    const shelf = { held: () => undefined, usable: () => undefined, put() {}, lookUp() {} }
    const turns = createTurns<string>({
      runtime,
      shelf: { ...shelf, lookUp: () => undefined },
      stored: undefined,
    })
    expect(await turns.isOurs(0)).toBe(true)
  })

  it('is claimed for as long as a load may take, or for the pause after its failure', async () => {
    const { runtime, turns, store, claims } = watched()
    store.grants = false
    for (const nextPause of [0, 20_000, 20_001, HOUR]) await turns.isOurs(nextPause)
    expect(claims).toEqual([20_000, 20_000, 20_001, HOUR])
    await runtime.advance(HOUR)
    store.grants = true
    expect(await turns.isOurs(1_000)).toBe(true)
  })

  it('lasts for the time of a load, without another claim', async () => {
    const { runtime, turns, store, claims } = watched()
    expect(await turns.isOurs(HOUR)).toBe(true)
    store.grants = false
    await runtime.advance(19_999)
    expect(await turns.isOurs(HOUR)).toBe(true)
    expect(claims).toHaveLength(1)
    await runtime.advance(1)
    expect(await turns.isOurs(HOUR)).toBe(false)
    expect(claims).toHaveLength(2)
  })

  it('is not ours while claims are refused', async () => {
    const { turns, store, claims } = watched()
    store.grants = false
    expect([await turns.isOurs(0), await turns.isOurs(0)]).toEqual([false, false])
    expect(claims).toHaveLength(2)
  })
})

describe('whoever is refused', () => {
  it('does not jump the queue while there is something to answer with', async () => {
    const { turns, store } = watched()
    expect(turns.mayJump()).toBe(false)
    store.grants = false
    await turns.isOurs(0)
    expect(turns.mayJump()).toBe(false)
  })

  it('jumps it once while there is nothing, and once more for what comes after something new', async () => {
    const { turns, store, shelf, renew } = watched()
    shelf.held = undefined
    store.grants = false
    const jumps = async (): Promise<boolean> => {
      await turns.isOurs(0)
      return turns.mayJump()
    }
    expect([await jumps(), await jumps(), await jumps()]).toEqual([true, false, false])
    renew()
    expect(await jumps()).toBe(false)
    shelf.isUsable = false
    expect([await jumps(), await jumps()]).toEqual([true, false])
  })

  it('jumps it after more than six hours of refusals, and then six hours later again', async () => {
    const { runtime, turns, store } = watched()
    store.grants = false
    const jumpAfter = async (duration: number): Promise<boolean> => {
      await runtime.advance(duration)
      await turns.isOurs(0)
      return turns.mayJump()
    }
    expect(await jumpAfter(100 * HOUR)).toBe(false)
    expect([await jumpAfter(6 * HOUR), await jumpAfter(1)]).toEqual([false, true])
    expect([await jumpAfter(6 * HOUR), await jumpAfter(1)]).toEqual([false, true])
  })

  it('counts its refusals anew after a turn, and for something new', async () => {
    const { runtime, turns, store, renew } = watched()
    store.grants = false
    await turns.isOurs(0)
    await runtime.advance(7 * HOUR)
    store.grants = true
    await turns.isOurs(0)
    expect(turns.mayJump()).toBe(false)
    await runtime.advance(HOUR)
    store.grants = false
    await turns.isOurs(0)
    expect(turns.mayJump()).toBe(false)
    await runtime.advance(7 * HOUR)
    renew()
    await turns.isOurs(0)
    expect(turns.mayJump()).toBe(false)
  })
})
