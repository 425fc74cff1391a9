import { describe, expect, it } from 'vitest'

import { createCooldown, requestedPause } from '../../src/cache/cooldown.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

const PAUSES = { first: 1_000, longest: 300_000 }

describe('a cooldown', () => {
  it('doubles with every failure in a row up to the longest, and starts again after a success', () => {
    const cooldown = createCooldown(virtualRuntime(0), PAUSES)
    const lengths = Array.from({ length: 12 }, () => {
      cooldown.fail()
      return cooldown.remaining() / 1_000
    })
    expect(lengths).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
    cooldown.succeed()
    expect(cooldown.remaining()).toBe(0)
    cooldown.fail()
    expect(cooldown.remaining()).toBe(1_000)
  })

  it('adds up to half of it at random, and says what it would be at most', () => {
    const cooldown = createCooldown(virtualRuntime(0, 0.999), PAUSES)
    expect(cooldown.next()).toBe(1_500)
    cooldown.fail()
    expect(cooldown.remaining()).toBeCloseTo(1_499.5)
    expect(cooldown.next()).toBe(3_000)
  })

  it('is never shorter than what was asked for', async () => {
    const runtime = virtualRuntime(0)
    const cooldown = createCooldown(runtime, PAUSES)
    cooldown.fail(1_200_000)
    expect(cooldown.remaining()).toBe(1_200_000)
    await runtime.advance(1_199_999)
    expect(cooldown.remaining()).toBe(1)
    await runtime.advance(1)
    expect(cooldown.remaining()).toBe(0)
  })

  it('gets longer with the failures of others, but starts with none of them', () => {
    const cooldown = createCooldown(virtualRuntime(0), PAUSES)
    cooldown.count()
    cooldown.count()
    expect([cooldown.remaining(), cooldown.next()]).toEqual([0, 6_000])
    cooldown.fail()
    expect(cooldown.remaining()).toBe(4_000)
    cooldown.succeed()
    expect([cooldown.remaining(), cooldown.next()]).toEqual([0, 1_500])
  })

  it('is none where nothing is asked for and none is due, however often it failed', () => {
    const cooldown = createCooldown(virtualRuntime(0), { first: 0, longest: 0 })
    for (let failures = 0; failures < 2_000; failures += 1) cooldown.fail()
    expect(cooldown.remaining()).toBe(0)
  })

  it('ends by whichever clock says so', async () => {
    const runtime = virtualRuntime(1_000_000)
    const cooldown = createCooldown(runtime, PAUSES)
    cooldown.fail(60_000)
    runtime.setClock(0)
    await runtime.advance(60_000)
    expect(cooldown.remaining()).toBe(0)
    cooldown.fail(60_000)
    runtime.setClock(2_000_000)
    expect(cooldown.remaining()).toBe(0)
  })
})

describe('the pause that an error asks for', () => {
  it.each([
    [{ retryAfterMs: 30_000 }, 30_000],
    [Object.assign(new Error('later'), { retryAfterMs: 1_200_000 }), 1_200_000],
    [{ retryAfterMs: 0 }, 1_000],
    [{ retryAfterMs: -5 }, 1_000],
    [{ retryAfterMs: 9e15 }, 21_600_000],
    [{ retryAfterMs: Infinity }, 21_600_000],
    [{ retryAfterMs: NaN }, 0],
    [{ retryAfterMs: '30' }, 0],
    [new Error('no word of it'), 0],
    [undefined, 0],
    ['text', 0],
    [null, 0],
  ])('of %j is %d ms', (error, pause) => {
    expect(requestedPause(error)).toBe(pause)
  })

  it('is none where the error does not let itself be read', () => {
    const error = {
      get retryAfterMs(): number {
        throw new Error('not yours')
      },
    }
    expect(requestedPause(error)).toBe(0)
  })
})
