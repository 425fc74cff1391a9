import { describe, expect, it } from 'vitest'

import { DAY, HOUR, MINUTE, SECOND, settled } from '../virtual-runtime.ts'
import {
  START,
  createWorld,
  hang,
  refuse,
  refuseFor,
  request,
  startOverdue,
  throwRefusal,
} from './world.ts'
import type { ReadThrough, World } from './world.ts'

/** Starts two processes, both with the value that the first one loaded, overdue by a second. */
async function startTwoOverdue() {
  const world = createWorld()
  const [one, other] = [world.start(), world.start()]
  await one.get()
  await settled()
  await world.becomeOverdue(other)
  return { ...world, one, other }
}

describe('a fleet over one store', () => {
  it('serves cached values while one process loads, and reads its result after a delay', async () => {
    const { runtime, store, upstream, hold, one, other } = await startTwoOverdue()
    const load = hold()
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

  it('replaces a process that died with the lease, once that has expired', async () => {
    const { runtime, upstream, one, other } = await startTwoOverdue()
    upstream.respond = hang
    void one.get()
    await settled()
    upstream.respond = (call) => call
    for (const [seconds, calls] of [
      [19, 2],
      [31, 3],
    ] as const) {
      for (let passed = 0; passed < seconds; passed += 1) {
        void request(other)
        await runtime.advance(SECOND)
      }
      expect(upstream.calls).toBe(calls)
    }
    expect(other.get()).toMatchObject({ value: 3, hit: true })
  })
})

describe('a process without a value whose lease is denied', () => {
  it('polls the store ten times a second', async () => {
    const world = createWorld()
    const { runtime, store, upstream, start } = world
    store.grants = false
    const process = start()
    const result = request(process)
    await runtime.advance(350)
    expect(store.reads).toBe(4)
    world.save(5, START + 300)
    await runtime.advance(49)
    expect(process.state().value).toBeUndefined()
    await runtime.advance(1)
    expect(await result).toEqual({ value: 5, hit: false, ttl: 3_629 })
    expect(process.state().lastAttempt?.outcome).toBe('restored')
    expect([upstream.calls, runtime.timers()]).toEqual([0, 0])
  })

  it('loads after four seconds, once, and then fails', async () => {
    const { runtime, store, upstream, start } = createWorld()
    store.grants = false
    upstream.respond = refuse
    const process = start()
    const first = request(process)
    await runtime.advance(3_999)
    expect(upstream.calls).toBe(0)
    await runtime.advance(1)
    expect(await first).toMatchObject({ cause: { message: 'refused' } })
    expect([upstream.calls, store.reads]).toEqual([1, 41])
    await runtime.advance(SECOND)
    const next = request(process)
    await runtime.advance(4_000)
    const cause = { message: expect.stringContaining('another process') }
    expect(await next).toMatchObject({ name: 'UnavailableError', retryInMs: 2 * SECOND, cause })
    expect([upstream.calls, process.state().lastAttempt?.outcome]).toEqual([1, 'delegated'])
  })

  it('stops polling when it is closed', async () => {
    const { runtime, store, upstream, start } = createWorld()
    store.grants = false
    const process = start()
    const result = request(process)
    await runtime.advance(250)
    process.close()
    expect(await result).toMatchObject({ cause: { message: 'closed' } })
    await runtime.advance(10 * SECOND)
    expect([store.reads, upstream.calls, runtime.timers()]).toEqual([3, 0, 0])
  })

  it('loads once more after a value from another process has expired', async () => {
    const world = createWorld()
    const { runtime, store, upstream } = world
    const process = world.start({ maxStale: HOUR })
    store.grants = false
    upstream.respond = refuse
    const callsAfter = async (duration: number): Promise<number> => {
      await runtime.advance(duration)
      void request(process)
      await runtime.advance(4 * SECOND)
      return upstream.calls
    }
    expect([await callsAfter(0), await callsAfter(MINUTE)]).toEqual([1, 1])
    world.save(5, runtime.now())
    expect(await callsAfter(MINUTE)).toBe(1)
    expect(process.state().value).toBe(5)
    // While the value is stale but served, denials have no effect.
    expect([await callsAfter(HOUR), await callsAfter(MINUTE)]).toEqual([1, 1])
    expect([await callsAfter(HOUR), await callsAfter(MINUTE)]).toEqual([2, 2])
  })
})

// Hours, with + a ms longer. They count from the first denial after the last grant, and again for a value of others.
it.each([
  ['denied', 0],
  ['denied 6 denied', 0],
  ['denied 6+ denied', 1],
  ['denied 6+ denied 6 denied', 1],
  ['denied 6+ denied 6+ denied', 2],
  ['denied 6+ denied 3 denied 3+ denied', 2],
  ['denied 5 granted 1 denied 5 denied', 1],
  ['denied 5 granted 1 denied 5 denied 1+ denied', 2],
  ['denied 5 saved denied 5 denied', 0],
  ['denied 5 saved denied 5 denied 1.125 denied', 1],
])(
  'a process with a stale value and denied leases loads once in 6 h: %j, %d',
  async (steps, loads) => {
    const { world, runtime, store, upstream, process } = await startOverdue()
    upstream.respond = refuse
    upstream.calls = 0
    for (const step of steps.split(' ')) {
      if (step === 'saved') world.save(2, runtime.now() - 2 * HOUR)
      if (/\d/.test(step))
        await runtime.advance(parseFloat(step) * HOUR + Number(step.endsWith('+')))
      if (!/granted|denied/.test(step)) continue
      store.grants = step === 'granted'
      await process.refresh()
      expect(runtime.timers()).toBe(0)
    }
    expect(upstream.calls).toBe(loads)
    expect(process.state().value).toBe(steps.includes('saved') ? 2 : 1)
  },
)

/** Returns the delays after `attempts` in seconds; each attempt follows at the end of the delay before it. */
async function delaysOf(world: World, process: ReadThrough<number>, attempts: number) {
  const { runtime, scheduled } = world
  scheduled.length = 0
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await process.refresh()
    await runtime.advance(scheduled.at(-1) ?? NaN)
  }
  return scheduled.map((length) => length / SECOND)
}

it.each([
  // Longer after each failure, and shorter again after a success.
  ['fails 1 2 4 8 16 32 64 128 256 300 300, loads 3630, fails 1 2 4'],
  // While another process loads. The next backoff after a failure is longer, and so the other way round.
  ['loads 3630, denied 2 4 8 16 30 30, loads 3630, denied 2 4'],
  ['loads 3630, denied 2 4, fails 4 8'],
  ['loads 3630, denied 2 4 8, fails 8 16, denied 16'],
])('the delay after attempts in a row grows, in seconds: %s', async (phases) => {
  const world = createWorld()
  const { store, upstream } = world
  const process = world.start(phases.includes('denied') ? {} : { stored: undefined })
  let calls = 0
  let value: number | undefined
  for (const phase of phases.split(', ')) {
    const [what = '', ...delays] = phase.split(' ')
    upstream.respond = what === 'fails' ? refuse : (call) => call
    store.grants = what !== 'denied'
    expect(await delaysOf(world, process, delays.length), phase).toEqual(delays.map(Number))
    calls += what === 'denied' ? 0 : delays.length
    if (what === 'loads') value = calls
    const lastAttempt = {
      outcome: { fails: 'failed', loads: 'loaded', denied: 'delegated' }[what],
    }
    expect([upstream.calls, process.state()]).toMatchObject([calls, { value, lastAttempt }])
  }
})

describe('the backoff after a failure', () => {
  it.each([
    [{ retryAfterMs: 30_000 }, 30_000],
    [Object.assign(new Error('later'), { retryAfterMs: 1_200_000 }), 1_200_000],
    [{ retryAfterMs: 0 }, 1_000],
    [{ retryAfterMs: -5 }, 1_000],
    [{ retryAfterMs: 9e15 }, 21_600_000],
    [{ retryAfterMs: Infinity }, 21_600_000],
    [{ retryAfterMs: NaN }, 1_000],
    [{ retryAfterMs: '30000' }, 1_000],
    [new Error('without a delay'), 1_000],
    [undefined, 1_000],
    [null, 1_000],
  ])('is as long as the error requests, within bounds: %j, %d ms', async (thrown, delay) => {
    const { upstream, start, scheduled } = createWorld()
    upstream.respond = () => Promise.reject(thrown)
    const process = start()
    const error = { name: 'UnavailableError', retryInMs: delay, cause: thrown }
    expect(await request(process)).toMatchObject(error)
    expect(scheduled).toEqual([delay])
  })

  it('gets up to 50 % of random jitter, also where reading the error throws', async () => {
    const world = createWorld(0.999)
    const unreadable = Object.defineProperty({}, 'retryAfterMs', { get: throwRefusal })
    world.upstream.respond = () => Promise.reject(unreadable)
    expect(await delaysOf(world, world.start(), 2)).toEqual([1.4995, 2.999])
  })

  it('ends by either clock', async () => {
    const { runtime, upstream, start } = createWorld()
    upstream.respond = refuseFor(60 * SECOND)
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

describe('a lease', () => {
  it.each([
    ['attempt that fails', true, [20, 48, 96, 192, 384, 450, 450]],
    ['attempt that is delegated', false, [20, 20, 20, 20, 24, 48, 96, 192]],
  ])('lasts for a load, or for the backoff after it, at each %s', async (_, grants, expected) => {
    const { world, store, upstream, process } = await startOverdue()
    store.grants = grants
    store.claims.length = 0
    upstream.respond = refuse
    await delaysOf(world, process, grants ? 11 : 8)
    expect(store.claims.map((length) => length / SECOND)).toEqual(expected)
    upstream.respond = (call) => call
    store.grants = true
    await world.becomeOverdue(process)
    store.claims.length = 0
    await process.refresh()
    expect(store.claims).toEqual([20 * SECOND])
  })

  it('is held for the 20 s of a load, and then requested again', async () => {
    const { runtime, store, upstream, start } = createWorld()
    const process = start()
    for (const retryAfterMs of [19_999, 1_000, DAY]) {
      upstream.respond = refuseFor(retryAfterMs)
      await process.refresh()
      await runtime.advance(retryAfterMs === 1_000 ? 2_000 : retryAfterMs)
    }
    expect([upstream.calls, store.claims.length]).toEqual([3, 2])
    const other = createWorld()
    other.upstream.respond = refuseFor(20_000)
    const late = other.start()
    await late.refresh()
    await other.runtime.advance(20_000)
    await late.refresh()
    expect([other.upstream.calls, other.store.claims.length]).toEqual([2, 2])
  })
})
