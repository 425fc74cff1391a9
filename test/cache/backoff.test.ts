import { describe, expect, it } from 'vitest'

import {
  DAY,
  REFRESH_AFTER,
  SECOND,
  START,
  ask,
  becomeOverdue,
  createWorld,
  refuse,
  refuseFor,
  startOverdue,
} from './world.ts'
import type { ReadThrough, World } from './world.ts'

/** The length in seconds of each of the pauses after `attempts`, each at the end of the pause before it. */
async function pausesOf(
  { runtime, scheduled }: World,
  process: ReadThrough<number>,
  attempts: number,
): Promise<number[]> {
  scheduled.length = 0
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await process.refresh()
    await runtime.advance(scheduled.at(-1) ?? NaN)
  }
  return scheduled.map((length) => length / SECOND)
}

describe('the pause after a failure', () => {
  it('doubles from a second to five minutes, and starts again after a success', async () => {
    const world = createWorld()
    const { upstream } = world
    const process = world.start({ stored: undefined })
    upstream.answer = refuse
    const expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    expect(await pausesOf(world, process, 11)).toEqual(expected)
    upstream.answer = (call) => call
    expect(await pausesOf(world, process, 1)).toEqual([REFRESH_AFTER / SECOND])
    upstream.answer = refuse
    expect(await pausesOf(world, process, 3)).toEqual([1, 2, 4])
  })

  it('gets up to 50 % of random jitter', async () => {
    const world = createWorld(0.999)
    world.upstream.answer = refuse
    expect(await pausesOf(world, world.start(), 2)).toEqual([1.4995, 2.999])
  })

  it.each([
    [{ retryAfterMs: 30_000 }, 30_000],
    [Object.assign(new Error('later'), { retryAfterMs: 1_200_000 }), 1_200_000],
    [{ retryAfterMs: 0 }, 1_000],
    [{ retryAfterMs: -5 }, 1_000],
    [{ retryAfterMs: 9e15 }, 21_600_000],
    [{ retryAfterMs: Infinity }, 21_600_000],
    [{ retryAfterMs: NaN }, 1_000],
    [{ retryAfterMs: '30000' }, 1_000],
    [new Error('without a pause'), 1_000],
    [undefined, 1_000],
    ['text', 1_000],
    [null, 1_000],
  ])('is as long as the error asks for within bounds: %j, %d ms', async (thrown, pause) => {
    const { upstream, start, scheduled } = createWorld()
    upstream.answer = () => Promise.reject(thrown)
    const process = start()
    expect(await ask(process)).toMatchObject({ name: 'UnavailableError', pause, cause: thrown })
    expect(scheduled).toEqual([pause])
  })

  it('is the usual one where the error throws when it is read', async () => {
    const { upstream, start, scheduled } = createWorld()
    upstream.answer = () =>
      Promise.reject({
        get retryAfterMs(): number {
          throw new Error('not readable')
        },
      })
    await start().refresh()
    expect(scheduled).toEqual([SECOND])
  })

  it('ends by either clock', async () => {
    const { runtime, upstream, start } = createWorld()
    upstream.answer = refuseFor(60 * SECOND)
    const process = start({ stored: undefined })
    const callsAfter = async (duration: number): Promise<number> => {
      await runtime.advance(duration)
      await process.refresh()
      return upstream.calls
    }
    await process.refresh()
    runtime.setClock(0)
    expect([await callsAfter(59_999), await callsAfter(1)]).toEqual([1, 2])
    runtime.setClock(START)
    expect(await callsAfter(0)).toBe(3)
  })
})

describe('the pause while another process loads', () => {
  it('doubles from two seconds to half a minute, and starts again after a success', async () => {
    const { world, store, upstream, process } = await startOverdue()
    store.grants = false
    expect(await pausesOf(world, process, 6)).toEqual([2, 4, 8, 16, 30, 30])
    expect(process.state()).toMatchObject({ value: 1, lastAttempt: { outcome: 'elsewhere' } })
    store.grants = true
    await becomeOverdue(world, process)
    await process.refresh()
    await world.runtime.advance(REFRESH_AFTER)
    store.grants = false
    expect(await pausesOf(world, process, 2)).toEqual([2, 4])
    expect(upstream.calls).toBe(3)
  })

  it('makes the next pause after a failure longer', async () => {
    const { world, store, upstream, process } = await startOverdue()
    store.grants = false
    await pausesOf(world, process, 2)
    store.grants = true
    upstream.answer = refuse
    expect(await pausesOf(world, process, 2)).toEqual([4, 8])
  })

  it('counts beside the pause after a failure, and the longer one counts', async () => {
    const { world, store, upstream, process } = await startOverdue()
    upstream.answer = refuse
    store.grants = false
    expect(await pausesOf(world, process, 3)).toEqual([2, 4, 8])
    store.grants = true
    expect(await pausesOf(world, process, 2)).toEqual([8, 16])
    store.grants = false
    expect(await pausesOf(world, process, 1)).toEqual([16])
  })
})

describe('a claim', () => {
  it.each([
    ['an attempt that fails', true, [20, 48, 96, 192, 384, 450, 450]],
    ['an attempt that is left to another process', false, [20, 20, 20, 20, 24, 48, 96, 192]],
  ])('lasts for a load, or for the pause after it, at each of %s', async (_, grants, expected) => {
    const { world, store, upstream, process } = await startOverdue()
    store.grants = grants
    store.claims.length = 0
    upstream.answer = refuse
    await pausesOf(world, process, grants ? 11 : 8)
    expect(store.claims.map((length) => length / SECOND)).toEqual(expected)
    upstream.answer = (call) => call
    store.grants = true
    await becomeOverdue(world, process)
    store.claims.length = 0
    await process.refresh()
    expect(store.claims).toEqual([20 * SECOND])
  })

  it('is held for the 20 s of a load, and then made again', async () => {
    const { runtime, store, upstream, start } = createWorld()
    const process = start()
    for (const retryAfterMs of [19_999, 1_000, DAY]) {
      upstream.answer = refuseFor(retryAfterMs)
      await process.refresh()
      await runtime.advance(retryAfterMs === 1_000 ? 2_000 : retryAfterMs)
    }
    expect([upstream.calls, store.claims.length]).toEqual([3, 2])
    const other = createWorld()
    other.upstream.answer = refuseFor(20_000)
    const late = other.start()
    await late.refresh()
    await other.runtime.advance(20_000)
    await late.refresh()
    expect([other.upstream.calls, other.store.claims.length]).toEqual([2, 2])
  })
})
