import { describe, expect, it } from 'vitest'

import { DAY, HOUR, MINUTE, SECOND, settled } from '../virtual-runtime.ts'
import {
  REFRESH_AFTER,
  START,
  createWorld,
  hang,
  refuse,
  refuseFor,
  request,
  throwRefusal,
} from './world.ts'
import type { ReadThroughOptions } from './world.ts'

/** Creates a process without a store, and its world. */
function createWithoutStore(overrides: Partial<ReadThroughOptions<number>> = {}, random = 0) {
  const world = createWorld(random)
  return Object.assign(world, { process: world.start({ stored: undefined, ...overrides }) })
}

const UNAVAILABLE = { name: 'UnavailableError' }

describe('a cold value', () => {
  it('is loaded for the next caller when all callers abort', async () => {
    const { upstream, hold, process } = createWithoutStore()
    const load = hold()
    const controller = new AbortController()
    const waiting = request(process, controller.signal)
    await settled()
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await waiting).toMatchObject({ ...UNAVAILABLE, retryInMs: 0, cause: reason })
    load.resolve(1)
    await settled()
    expect(process.get()).toMatchObject({ value: 1, hit: true })
    expect(upstream.calls).toBe(1)
  })

  it('is not loaded for a caller that has already aborted', async () => {
    const { runtime, upstream, process } = createWithoutStore()
    const aborted = await request(process, AbortSignal.abort('bored'))
    const cause = { message: 'aborted', cause: 'bored' }
    expect(aborted).toMatchObject({ ...UNAVAILABLE, cause })
    expect([upstream.calls, runtime.timers()]).toEqual([0, 0])
  })

  it('is loaded again 20 s and the backoff after a load that ignores its signal', async () => {
    const { runtime, upstream, process } = createWithoutStore()
    upstream.respond = hang
    void request(process)
    await runtime.advance(20 * SECOND - 1)
    expect(process.state().lastAttempt).toEqual({ at: START, outcome: 'running' })
    expect(upstream.signals[0]?.aborted).toBe(false)
    await runtime.advance(1)
    const cause = { name: 'TimeoutError', message: expect.stringContaining('20000 ms') }
    expect(upstream.signals[0]?.reason).toMatchObject(cause)
    expect(process.state().lastAttempt).toEqual({ at: START, outcome: 'failed' })
    expect(await request(process)).toMatchObject({ retryInMs: 1_000, cause })
    upstream.respond = (call) => call
    await runtime.advance(SECOND)
    expect(await process.get()).toMatchObject({ value: 2 })
    expect(runtime.timers()).toBe(0)
  })

  it('is refused at once, with the reason, during the backoff after a failure', async () => {
    const { runtime, upstream, process } = createWithoutStore()
    const cause = new Error('refused')
    upstream.respond = () => Promise.reject(cause)
    expect(await request(process)).toMatchObject({ ...UNAVAILABLE, retryInMs: 1_000, cause })
    expect(upstream.signals[0]?.reason).toBe(cause)
    await runtime.advance(400)
    for (let caller = 0; caller < 9; caller += 1) {
      expect(await request(process)).toMatchObject({ ...UNAVAILABLE, retryInMs: 600, cause })
    }
    expect(upstream.calls).toBe(1)
    await runtime.advance(600)
    await request(process)
    expect(upstream.calls).toBe(2)
  })

  it('is loaded again as soon as it is too old, even with a maxStale of 0', async () => {
    const { runtime, upstream, process } = createWithoutStore({ maxStale: 0 })
    await process.get()
    await runtime.advance(HOUR)
    expect(await process.get()).toMatchObject({ value: 1, hit: true })
    await runtime.advance(1)
    expect(await process.get()).toMatchObject({ value: 2, hit: false })
    expect(upstream.calls).toBe(2)
  })
})

describe('a cached value', () => {
  it.each([
    [0, 30_000],
    [0.5, 165_000],
    [1, 300_000],
  ])('is refreshed 30 s to 5 min after it is due, at random: %d', async (random, jitter) => {
    const { process, scheduled } = createWithoutStore({}, random)
    await process.get()
    expect(scheduled).toEqual([HOUR + jitter])
  })

  it.each([
    ['was due long ago', 0, 10 * MINUTE, 10 * MINUTE + 30 * SECOND],
    ['is due too soon', START + 599_999, 10 * MINUTE, 10 * MINUTE + 30 * SECOND],
    ['is due after maxLifetime', START + 100 * HOUR, 100 * HOUR, 25 * HOUR],
    ['is due in the far future', 9e15, Infinity, 25 * HOUR],
  ])('that %s stays fresh for at least ten minutes and at most maxLifetime', async (...row) => {
    const [, nextUpdateAt, dueAfter, refreshAfter] = row
    const lifetime = () => ({ nextUpdateAt, maxLifetime: 25 * HOUR })
    const world = createWithoutStore({ lifetime, maxStale: MINUTE })
    const { runtime, upstream, process, scheduled } = world
    expect(await process.get()).toMatchObject({ ttl: refreshAfter / SECOND })
    expect(scheduled).toEqual([refreshAfter])
    upstream.respond = hang
    await runtime.advance(Math.min(dueAfter + MINUTE, 1_000 * DAY))
    expect(process.state()).toMatchObject({ value: 1, stale: true })
    await runtime.advance(1)
    const isServed = dueAfter === Infinity
    expect(process.state()).toMatchObject({ value: isServed ? 1 : undefined, stale: isServed })
  })

  it('is fresh until its refresh is due, then returned at once, while one load replaces it', async () => {
    const world = createWithoutStore()
    const { runtime, upstream, process, overdue } = world
    await process.get()
    await runtime.advance(REFRESH_AFTER - 1)
    expect(process.get()).toEqual({ value: 1, hit: true, ttl: 0 })
    await settled()
    expect([upstream.calls, overdue]).toEqual([1, []])
    await runtime.advance(1)
    expect(process.get()).toEqual({ value: 1, hit: true, ttl: 0 })
    await settled()
    expect(process.get()).toEqual({ value: 2, hit: true, ttl: REFRESH_AFTER / SECOND })
    await world.becomeOverdue(process)
    const results = Array.from({ length: 9 }, () => process.get())
    expect(new Set(results.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ value: 2, hit: true, ttl: -1 })]),
    )
    expect(overdue).toEqual([0, ...results.map(() => SECOND)])
    await settled()
    expect([upstream.calls, process.state().value]).toEqual([3, 3])
  })

  it('is passed to the next load, with its load time and whether it may be served', async () => {
    const { runtime, upstream, hold, process } = createWithoutStore()
    const load = hold()
    const waiting = request(process)
    await runtime.advance(500)
    load.resolve(1)
    await waiting
    upstream.respond = (call) => call
    for (const duration of [2 * HOUR, 8 * DAY]) {
      await runtime.advance(duration)
      await process.refresh()
    }
    expect(upstream.known.slice(1)).toMatchObject([
      { last: 1, current: 1, entry: { value: 1, loadedAt: START + 500 } },
      { last: 2, current: undefined, entry: undefined },
    ])
  })

  it.each([
    ['an older publication', 1, 2],
    ['the same publication', 2.5, 2.5],
    ['a newer publication', 3, 3],
  ])('is replaced by a publication of its time or later: %s', async (_what, loaded, kept) => {
    const { store, upstream, start, becomeOverdue } = createWorld()
    const process = start()
    upstream.respond = () => 2
    await becomeOverdue(process)
    upstream.respond = () => loaded
    await process.refresh()
    expect(process.state().value).toBe(kept)
    expect(store.writes).toHaveLength(kept === loaded ? 2 : 1)
  })

  it.each([
    ['throws', throwRefusal],
    ['rejects', refuse],
  ])('is refreshed also when waitUntil %s', async (_how, fail) => {
    const works: Promise<unknown>[] = []
    const waitUntil = (work: Promise<unknown>) => (works.push(work), fail())
    const world = createWithoutStore({ waitUntil })
    const { runtime, upstream, hold, process } = world
    const load = hold()
    const waiting = request(process)
    await runtime.advance(5 * SECOND)
    expect(await waiting).toMatchObject(UNAVAILABLE)
    expect(works).toHaveLength(1)
    load.resolve(1)
    await works[0]
    await world.becomeOverdue(process)
    upstream.respond = refuse
    expect(process.get()).toMatchObject({ value: 1, hit: true })
    expect(works).toHaveLength(2)
    await expect(works[1]).resolves.toBeUndefined()
  })
})

describe('the system clock', () => {
  // It is set to hours after the start (@), or hours pass.
  it.each([
    ['it is set back by a year', '@-8760 2', -3_570],
    ['it was set back a year eight days ago', '@-8760 192', undefined],
    ['it is set back by less than the age', '0.75 @0.5', 930],
    ['it was set back a quarter of an hour ago', '0.75 @0.5 0.25', 30],
    ['it has not reached that time again', '168 @0 24', undefined],
    ['it passes that time again', '168 @24 168', undefined],
    ['it is set ahead by a day', '@24', -82_770],
    ['it is set ahead by a month', '@720', undefined],
  ])(
    'lets the age of a value without upstream grow steadily when %s',
    async (_when, steps, ttl) => {
      const { runtime, upstream, process } = createWithoutStore()
      await process.get()
      upstream.respond = refuse
      for (const step of steps.split(' ')) {
        const hours = Number(step.replace('@', ''))
        if (step.startsWith('@')) runtime.setClock(START + hours * HOUR)
        else await runtime.advance(hours * HOUR)
        await process.refresh()
        void request(process)
      }
      const expected = ttl === undefined ? UNAVAILABLE : { value: 1, ttl }
      expect(await request(process)).toMatchObject(expected)
    },
  )

  it.each([
    ['causes one refresh when set ahead', DAY, 0],
    ['does not prevent a refresh when set back', -DAY, HOUR + MINUTE],
  ])('%s', async (_what, shift, wait) => {
    const { runtime, upstream, process } = createWithoutStore()
    await process.get()
    runtime.setClock(START + shift)
    await runtime.advance(wait)
    await Promise.all([request(process), request(process)])
    await settled()
    expect(upstream.calls).toBe(2)
  })

  it('keeps the age of a value constant when stopped, as in a test', async () => {
    const { runtime } = createWorld()
    let monotonic = 0
    const stopped = { now: () => START, monotonic: () => (monotonic += 600_000) }
    const { process } = createWithoutStore({ runtime: { ...runtime, ...stopped } })
    const ages = [await process.get(), await process.get(), await process.get()]
    expect(ages.map(({ ttl }) => ttl)).toEqual([3_630, 3_630, 3_630])
  })
})

it('refresh() loads only a value that is due', async () => {
  const { runtime, store, upstream, start } = createWorld()
  const process = start()
  await process.refresh()
  await process.refresh()
  await runtime.advance(HOUR)
  const { reads } = store
  await process.refresh()
  expect([upstream.calls, store.reads]).toEqual([1, reads])
  expect(process.state().lastAttempt).toEqual({ at: START, outcome: 'loaded' })
  await runtime.advance(HOUR)
  await process.refresh()
  expect(upstream.calls).toBe(2)
})

describe('close()', () => {
  it('aborts the load in progress, drops its result and prevents others', async () => {
    const { runtime, store, upstream, hold, start } = createWorld()
    const load = hold()
    const process = start()
    const waiting = request(process)
    await settled()
    process.close()
    expect(await waiting).toMatchObject({ ...UNAVAILABLE, cause: { message: 'closed' } })
    expect(upstream.signals[0]?.reason).toMatchObject({ message: 'closed' })
    load.resolve(1)
    await runtime.advance(HOUR)
    expect(await request(process)).toMatchObject(UNAVAILABLE)
    expect(process.state().nextAttemptAt).toBe(runtime.now())
    expect([upstream.calls, store.writes, runtime.timers()]).toEqual([1, [], 0])
  })

  it('does not start a load whose lease is granted afterwards', async () => {
    const { store, upstream, start } = createWorld()
    const claim = Promise.withResolvers<boolean>()
    store.grants = claim.promise
    const process = start()
    const waiting = request(process)
    await settled()
    process.close()
    claim.resolve(true)
    expect(await waiting).toMatchObject({ cause: { message: 'closed' } })
    await settled()
    expect(upstream.calls).toBe(0)
  })

  it('prevents even the first load, and keeps serving a cached value', async () => {
    const cold = createWithoutStore()
    cold.process.close()
    const refused = { ...UNAVAILABLE, retryInMs: 0, cause: undefined }
    expect(await request(cold.process)).toMatchObject(refused)
    const { runtime, upstream, process } = createWithoutStore()
    await process.get()
    process.close()
    await runtime.advance(DAY)
    expect(process.get()).toMatchObject({ value: 1, hit: true })
    await settled()
    expect([cold.upstream.calls, upstream.calls]).toEqual([0, 1])
  })
})

it('state() is empty at first, then has the value, stale from the moment its refresh is due', async () => {
  const { runtime, upstream, process } = createWithoutStore()
  const empty = { value: undefined, stale: false, isLate: false }
  expect(process.state()).toEqual({ ...empty, lastAttempt: undefined, nextAttemptAt: START })
  expect(upstream.calls).toBe(0)
  upstream.respond = refuse
  await process.refresh()
  const failed = { at: START, outcome: 'failed' }
  expect(process.state()).toEqual({ ...empty, lastAttempt: failed, nextAttemptAt: START + SECOND })
  await runtime.advance(SECOND)
  upstream.respond = (call) => call
  await process.get()
  const lastAttempt = { at: START + SECOND, outcome: 'loaded' }
  const nextAttemptAt = START + SECOND + REFRESH_AFTER
  const state = { value: 2, stale: false, isLate: false, lastAttempt, nextAttemptAt }
  expect(process.state()).toEqual(state)
  runtime.setClock(nextAttemptAt - 1)
  expect(process.state()).toEqual(state)
  await runtime.advance(1)
  expect(process.state()).toEqual({ ...state, stale: true })
  await runtime.advance(HOUR)
  expect(process.state()).toEqual({ ...state, stale: true, nextAttemptAt: runtime.now() })
  // The end of a backoff is later.
  upstream.respond = refuseFor(MINUTE)
  await process.refresh()
  expect(process.state().nextAttemptAt).toBe(runtime.now() + MINUTE)
})
