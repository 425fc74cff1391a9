import { describe, expect, it } from 'vitest'

import { settled } from '../virtual-runtime.ts'
import {
  DAY,
  HOUR,
  MINUTE,
  REFRESH_AFTER,
  SECOND,
  START,
  ask,
  becomeOverdue,
  createWorld,
  hang,
  refuse,
  refuseFor,
  save,
  startOverdue,
} from './world.ts'
import type { ReadThrough, World } from './world.ts'

/** More than a claim of any length that an attempt asks for, in ms. */
const LONGEST_CLAIM = 450 * SECOND

/** What each of `processes` returns. */
async function valuesOf(processes: ReadThrough<number>[]): Promise<number[]> {
  const readings = await Promise.all(processes.map(async (process) => process.get()))
  await settled()
  return readings.map(({ value }) => value)
}

/** Several processes, each with the value of the first load. */
async function startWarm(world: World, size: number): Promise<ReadThrough<number>[]> {
  const processes = Array.from({ length: size }, () => world.start())
  const first = valuesOf(processes)
  await world.runtime.advance(200)
  expect(await first).toEqual(Array.from({ length: size }, () => 1))
  return processes
}

/** Two processes, both with the value that the first one loaded, overdue by a second. */
async function startTwoOverdue() {
  const world = createWorld()
  const [one, other] = [world.start(), world.start()]
  await one.get()
  await settled()
  await becomeOverdue(world, other)
  return { ...world, world, one, other }
}

/** Calls for a value every `step` ms until `duration` ms have passed. */
async function askEvery(
  step: number,
  duration: number,
  { runtime }: World,
  processes: ReadThrough<number>[],
): Promise<void> {
  for (let passed = 0; passed < duration; passed += step) {
    for (const process of processes) void ask(process)
    await runtime.advance(step)
  }
}

describe('a fleet over one store', () => {
  it('starts cold with one load, and makes one for every refresh', async () => {
    const world = createWorld()
    const { runtime, upstream } = world
    const processes = await startWarm(world, 8)
    expect(upstream.calls).toBe(1)
    for (let refreshes = 2; refreshes <= 11; refreshes += 1) {
      await runtime.advance(HOUR + 31 * SECOND)
      await valuesOf(processes)
      await runtime.advance(3 * SECOND)
      await valuesOf(processes)
      expect(await valuesOf(processes)).toEqual(Array.from({ length: 8 }, () => refreshes))
      expect(upstream.calls).toBe(refreshes)
    }
  })

  it('returns the held values while one process loads, and looks for its result after a pause', async () => {
    const { runtime, store, upstream, one, other } = await startTwoOverdue()
    const load = Promise.withResolvers<number>()
    upstream.answer = () => load.promise
    expect(one.get()).toMatchObject({ value: 1 })
    await settled()
    expect(other.get()).toMatchObject({ value: 1, hit: true })
    await settled()
    expect(other.state().lastAttempt).toMatchObject({ outcome: 'delegated' })
    expect(upstream.calls).toBe(2)
    const { reads } = store
    await runtime.advance(SECOND)
    for (let caller = 0; caller < 100; caller += 1) await other.get()
    expect(store.reads).toBe(reads)
    load.resolve(2)
    await runtime.advance(SECOND)
    await other.get()
    await settled()
    expect(other.get()).toMatchObject({ value: 2, hit: true })
    expect(other.state().lastAttempt).toMatchObject({ outcome: 'restored' })
    expect(upstream.calls).toBe(2)
  })

  it('replaces a process that died with the claim, once that has expired', async () => {
    const { world, upstream, one, other } = await startTwoOverdue()
    upstream.answer = hang
    void one.get()
    await settled()
    upstream.answer = (call) => call
    await askEvery(SECOND, 19 * SECOND, world, [other])
    expect(upstream.calls).toBe(2)
    await askEvery(SECOND, 31 * SECOND, world, [other])
    expect(upstream.calls).toBe(3)
    expect(other.get()).toMatchObject({ value: 3, hit: true })
  })

  it('waits for one claim after another in the same refresh, not in all of them together', async () => {
    const world = createWorld()
    const { runtime, upstream } = world
    const processes = await startWarm(world, 8)
    for (let refreshes = 2; refreshes <= 6; refreshes += 1) {
      await runtime.advance(9 * HOUR)
      const load = Promise.withResolvers<number>()
      upstream.answer = () => load.promise
      // Long enough for the others to find the result in spite of their pauses.
      await askEvery(SECOND, 19 * SECOND, world, processes)
      load.resolve(refreshes)
      await askEvery(SECOND, 21 * SECOND, world, processes)
      expect(await valuesOf(processes)).toEqual(Array.from({ length: 8 }, () => refreshes))
      expect(upstream.calls).toBe(refreshes)
    }
  })

  it.each(['stale', 'cold'])(
    'loads from a dead upstream about as often as one %s process',
    { timeout: 60_000 },
    async (how) => {
      /** How often several processes load in two hours. */
      async function loadsOf(size: number): Promise<number> {
        const world = createWorld(0.5)
        const { runtime, upstream } = world
        const isStale = how === 'stale'
        const processes = isStale
          ? await startWarm(world, size)
          : Array.from({ length: size }, () => world.start())
        if (isStale) await runtime.advance(REFRESH_AFTER + 400 * SECOND)
        upstream.answer = refuse
        upstream.calls = 0
        await askEvery(MINUTE, 2 * HOUR, world, processes)
        return upstream.calls
      }
      const [one, three] = [await loadsOf(1), await loadsOf(3)]
      expect(one).toBeGreaterThan(15)
      expect(three).toBeGreaterThan(one / 2)
      // Without claims it would be three times as often.
      expect(three).toBeLessThan(1.5 * one)
    },
  )
})

describe('a process without a value whose claim is refused', () => {
  it('looks ten times a second for what another process loads', async () => {
    const world = createWorld()
    const { runtime, store, upstream, start } = world
    store.grants = false
    const process = start()
    const reading = ask(process)
    await runtime.advance(350)
    expect(store.reads).toBe(4)
    save(world, 5, START + 300)
    await runtime.advance(49)
    expect(process.state().value).toBeUndefined()
    await runtime.advance(1)
    expect(await reading).toEqual({ value: 5, hit: false, ttl: 3_629 })
    expect(process.state().lastAttempt?.outcome).toBe('restored')
    expect([upstream.calls, runtime.timers()]).toEqual([0, 0])
  })

  it('loads after four seconds, once, and then fails', async () => {
    const { runtime, store, upstream, start } = createWorld()
    store.grants = false
    upstream.answer = refuse
    const process = start()
    const first = ask(process)
    await runtime.advance(3_999)
    expect(upstream.calls).toBe(0)
    await runtime.advance(1)
    expect(await first).toMatchObject({ cause: { message: 'refused' } })
    expect([upstream.calls, store.reads]).toEqual([1, 41])
    await runtime.advance(SECOND)
    const next = ask(process)
    await runtime.advance(4_000)
    expect(await next).toMatchObject({
      name: 'UnavailableError',
      retryInMs: 2 * SECOND,
      cause: { message: 'another process is at it' },
    })
    expect([upstream.calls, process.state().lastAttempt?.outcome]).toEqual([1, 'delegated'])
  })

  it('stops looking when it is closed', async () => {
    const { runtime, store, upstream, start } = createWorld()
    store.grants = false
    const process = start()
    const reading = ask(process)
    await runtime.advance(250)
    process.close()
    expect(await reading).toMatchObject({ cause: { message: 'closed' } })
    await runtime.advance(10 * SECOND)
    expect([store.reads, upstream.calls, runtime.timers()]).toEqual([3, 0, 0])
  })

  it('loads once more for what comes after a value from elsewhere', async () => {
    const world = createWorld()
    const { runtime, store, upstream } = world
    const process = world.start({ maxStale: HOUR })
    store.grants = false
    upstream.answer = refuse
    const callsAfter = async (duration: number): Promise<number> => {
      await runtime.advance(duration)
      void ask(process)
      await runtime.advance(4 * SECOND)
      return upstream.calls
    }
    expect([await callsAfter(0), await callsAfter(MINUTE)]).toEqual([1, 1])
    save(world, 5, runtime.now())
    expect(await callsAfter(MINUTE)).toBe(1)
    expect(process.state().value).toBe(5)
    // While it is stale but usable the refusals count as little.
    expect([await callsAfter(HOUR), await callsAfter(MINUTE)]).toEqual([1, 1])
    expect([await callsAfter(HOUR), await callsAfter(MINUTE)]).toEqual([2, 2])
  })
})

describe('a process with a stale value whose claims are refused', () => {
  /** A world whose process is asked after each of these waits, from the first refusal on; how often it loaded since. */
  async function loadsAfter(...waits: number[]): Promise<number> {
    const { runtime, store, upstream, process } = await startOverdue()
    store.grants = false
    upstream.answer = refuse
    upstream.calls = 0
    for (const wait of [0, ...waits]) {
      await runtime.advance(wait)
      await process.refresh()
      expect(runtime.timers()).toBe(0)
    }
    return upstream.calls
  }

  it.each([
    { waits: [], loads: 0 },
    { waits: [6 * HOUR], loads: 0 },
    { waits: [6 * HOUR + 1], loads: 1 },
    { waits: [6 * HOUR + 1, 6 * HOUR], loads: 1 },
    { waits: [6 * HOUR + 1, 6 * HOUR + 1], loads: 2 },
    { waits: [6 * HOUR + 1, 3 * HOUR, 3 * HOUR + 1], loads: 2 },
  ])('loads $loads times after $waits ms: every six hours', async ({ waits, loads }) => {
    expect(await loadsAfter(...waits)).toBe(loads)
  })

  it('counts them from the first one after the last grant', async () => {
    const { runtime, store, upstream, process } = await startOverdue()
    upstream.answer = refuse
    for (const grants of [false, true, false]) {
      store.grants = grants
      await process.refresh()
      await runtime.advance(grants ? HOUR : 5 * HOUR)
    }
    // Eleven hours after the first refusal, and five after the first one since.
    await process.refresh()
    expect(upstream.calls).toBe(2)
    await runtime.advance(HOUR + 1)
    await process.refresh()
    expect(upstream.calls).toBe(3)
  })

  it('counts them again for a new value', async () => {
    const { world, runtime, store, upstream, process } = await startOverdue()
    store.grants = false
    await process.refresh()
    await runtime.advance(5 * HOUR)
    save(world, 2, runtime.now() - 2 * HOUR)
    await process.refresh()
    expect(process.state().value).toBe(2)
    await runtime.advance(5 * HOUR)
    await process.refresh()
    expect(upstream.calls).toBe(1)
    await runtime.advance(HOUR + LONGEST_CLAIM)
    await process.refresh()
    expect(upstream.calls).toBe(2)
  })
})

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
    expect(await ask(process)).toMatchObject({
      name: 'UnavailableError',
      retryInMs: pause,
      cause: thrown,
    })
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
    expect(process.state()).toMatchObject({ value: 1, lastAttempt: { outcome: 'delegated' } })
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
