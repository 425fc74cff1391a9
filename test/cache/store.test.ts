import { describe, expect, it } from 'vitest'

import type { CacheStore } from '../../src/index.ts'
import { DAY, HOUR, MINUTE, SECOND, settled, virtualRuntime } from '../virtual-runtime.ts'
import {
  REFRESH_AFTER,
  START,
  createWorld,
  envelope,
  guardStore,
  hang,
  refuse,
  refuseFor,
  request,
  startOverdue,
  throwRefusal,
} from './world.ts'

/** Guards `store`; returns its failures and a function that reads it several times in a row. */
function guard(store: CacheStore) {
  const runtime = virtualRuntime(START)
  const failures: string[] = []
  const guarded = guardStore(store, runtime, (operation, key, error) =>
    failures.push(`${operation} ${key} ${Object(error).message}`),
  )
  const get = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await guarded.get('a', ignore)
  }
  return { runtime, failures, store: guarded, get }
}

const ignore = (): void => {}

/** A guarded store that fails the reads for which `isFailing` returns true; `callsAfter` waits, reads and counts calls. */
function guardFailing(isFailing: (call: number) => boolean) {
  let calls = 0
  const read = (): void => void (isFailing((calls += 1)) && throwRefusal())
  const { runtime, get } = guard({ get: read, set: ignore })
  async function callsAfter(wait: number, ...reads: number[]): Promise<number> {
    await runtime.advance(wait)
    await Promise.all(reads.map(get))
    return calls
  }
  return { runtime, callsAfter }
}

describe('a guarded store', () => {
  it('times out after 50 ms to read or claim, and after a second to write', async () => {
    const { runtime, store, failures } = guard({ get: hang, set: hang, claim: hang })
    const operations = Promise.all([store.get('a', ignore), store.claim('a', 0)])
    await runtime.advance(49)
    expect(failures).toEqual([])
    await runtime.advance(1)
    expect((await operations)[1]).toBe(true)
    const write = store.set('a', 'text', 0)
    await runtime.advance(999)
    const timeouts = [/^get a .*\b50 ms/, /^claim a .*\b50 ms/]
    expect(failures).toEqual(timeouts.map((each) => expect.stringMatching(each)))
    await runtime.advance(1)
    await write
    expect(failures).toHaveLength(3)
    expect(runtime.timers()).toBe(0)
  })

  it('is not called for five seconds after five failures in a row, and then called once', async () => {
    let isFailing = true
    const { runtime, callsAfter } = guardFailing(() => isFailing)
    expect(await callsAfter(0, 4)).toBe(4)
    expect(await callsAfter(4_000, 10)).toBe(5)
    // The monotonic clock counts.
    runtime.setClock(START + DAY)
    expect(await callsAfter(4_999, 1)).toBe(5)
    runtime.setClock(START - DAY)
    expect(await callsAfter(1, 1, 1)).toBe(6)
    expect(await callsAfter(4_999, 1)).toBe(6)
    isFailing = false
    expect(await callsAfter(1, 1)).toBe(7)
    expect(await callsAfter(0, 1, 1)).toBe(9)
    // Failures that are not in a row.
    expect(await guardFailing((call) => call % 5 !== 0).callsAfter(0, 50)).toBe(50)
  })

  it('gets no writes and no claims while the circuit is open', async () => {
    const calls: string[] = []
    const { runtime, store, get } = guard({
      get: throwRefusal,
      set: (key, value, expiresAt) => calls.push(`${key} ${value} ${expiresAt}`),
      claim: (key, expiresAt) => calls.push(`${key} ${expiresAt}`) > 2,
    })
    await get(5)
    await store.set('a', 'text', 1)
    expect(await store.claim('a', 2)).toBe(true)
    expect(calls).toEqual([])
    await runtime.advance(5_000)
    await store.set('a', 'text', 1)
    expect(await store.claim('a', 2)).toBe(false)
    expect(calls).toEqual(['a text 1', 'a 2'])
  })

  it('grants every claim where the store cannot decide', async () => {
    const without = guard({ get: ignore, set: ignore })
    expect(await without.store.claim('a', 0)).toBe(true)
    const failing = guard({ get: throwRefusal, set: throwRefusal, claim: throwRefusal })
    for (let time = 0; time < 9; time += 1) expect(await failing.store.claim('a', 0)).toBe(true)
    expect(failing.failures).toEqual(Array.from({ length: 5 }, () => 'claim a refused'))
  })
})

describe('a value in a store', () => {
  it.each([
    ['as long as it may be served', 7 * DAY, HOUR + 7 * DAY],
    ['at most until the latest date there is', Infinity, 8.64e15 - START],
  ])('is written in an envelope that expires %s', async (_how, maxStale, keptFor) => {
    const { store, start, restored } = createWorld()
    await start({ maxStale }).get()
    await settled()
    expect(store.writes).toEqual([['number', envelope({ data: 1 }), keptFor]])
    expect([store.claims, restored]).toEqual([[20 * SECOND], []])
  })

  it('replaces the load while it is fresh', async () => {
    const world = createWorld()
    const { upstream, start, restored, scheduled } = world
    world.save(41, START - MINUTE)
    const [process, refreshed] = [start(), start()]
    expect(await process.get()).toEqual({ value: 41, hit: true, ttl: 3_570 })
    expect([restored, scheduled]).toEqual([[START - MINUTE], [REFRESH_AFTER - MINUTE]])
    expect(process.state().lastAttempt).toBeUndefined()
    await refreshed.refresh()
    const lastAttempt = { at: START, outcome: 'restored' }
    expect(refreshed.state()).toMatchObject({ value: 41, lastAttempt })
    expect([upstream.calls, world.store.writes]).toEqual([0, []])
  })

  it.each([
    ['returned when overdue, while a load replaces it', 2 * HOUR, { value: 1, hit: true }],
    ['not returned once it is too old', 30 * DAY, { value: 2, hit: false }],
  ])('is %s', async (_what, age, expected) => {
    const world = createWorld()
    world.save(1, START - age)
    world.upstream.respond = () => 2
    const process = world.start()
    expect(await process.get()).toMatchObject(expected)
    await settled()
    expect([world.upstream.calls, process.state().value]).toEqual([1, 2])
  })

  const DAMAGED = [envelope().slice(0, -1), envelope().replace('41', '47'), `${envelope()} `]
  const OTHER_KEYS = ['other', undefined].map((key) => envelope({ key }))
  const NO_TIMES = [undefined, 'yesterday', String(START)].map((savedAt) => envelope({ savedAt }))

  it.each(
    [
      { why: /must be a string, got (number|object)$/, texts: [41, JSON.parse(envelope())] },
      { why: /must start with a digest/, texts: ['41', '{}', envelope().slice(1)] },
      { why: /digest does not match/, texts: DAMAGED },
      { why: /version must be 2/, texts: [0, 1, 3, '2'].map((v) => envelope({ v })) },
      { why: /key must be number/, texts: OTHER_KEYS },
      { why: /savedAt must be a time/, texts: NO_TIMES },
      { why: /savedAt .*future/, texts: [envelope({ savedAt: START + 30 * DAY })] },
      { why: /^not a number$/, texts: [envelope({ data: '41' })] },
      { why: /^not 13$/, texts: [envelope({ data: 13 })] },
    ].flatMap(({ why, texts }) => texts.map((text: unknown) => ({ text, why }))),
  )('is a miss in the form $text, which is reported once in a row', async ({ text, why }) => {
    const { runtime, store, upstream, start, rejected } = createWorld()
    upstream.respond = refuseFor(DAY)
    const process = start()
    const read = async (next: unknown): Promise<void> => {
      store.values.set('number', next)
      expect(await request(process)).toMatchObject({ name: 'UnavailableError' })
      await runtime.advance(SECOND)
    }
    await read(text)
    await read(text)
    expect([store.reads, rejected]).toEqual([2, [expect.stringMatching(why)]])
    await read('false')
    await read(text)
    expect(rejected).toEqual([why, /digest/, why].map((each) => expect.stringMatching(each)))
  })

  const OLD = JSON.stringify({ v: 1, key: 'number', savedAt: START, data: 41 })

  it.each([undefined, null, OLD])('is a miss that is not reported at %j', async (text) => {
    const { runtime, store, upstream, start, rejected } = createWorld()
    upstream.respond = refuseFor(DAY)
    const process = start()
    const tooOld = envelope({ savedAt: START - 30 * DAY })
    for (const next of [text, tooOld, text, '{}', text, '{}']) {
      store.values.set('number', next)
      await request(process)
      await runtime.advance(SECOND)
    }
    expect(store.reads).toBe(6)
    expect(rejected).toEqual([expect.stringMatching(/must start with a digest/)])
  })

  it('is parsed once, and not at all where this process wrote it', async () => {
    const world = createWorld()
    const { runtime, store, upstream } = world
    const [one, other] = [world.start(), world.start()]
    await one.get()
    await other.get()
    expect(world.parsed).toBe(1)
    store.grants = false
    await runtime.advance(2 * HOUR)
    for (const process of [one, other]) await process.refresh()
    expect([store.reads, upstream.calls, world.parsed]).toEqual([4, 1, 1])
    world.save(2, runtime.now())
    await runtime.advance(2 * SECOND)
    for (const process of [one, other]) await process.refresh()
    expect([one.state().value, other.state().value, world.parsed]).toEqual([2, 2, 3])
  })

  it('counts as loaded now where the clock of its writer is an hour ahead, and is used once it is', async () => {
    const ahead = createWorld()
    ahead.save(41, START + HOUR)
    expect(await ahead.start().get()).toMatchObject({ ttl: REFRESH_AFTER / SECOND })
    expect(ahead.restored).toEqual([START])
    const world = createWorld()
    const { runtime, upstream, start } = world
    world.save(41, START + 2 * HOUR)
    upstream.respond = refuseFor(DAY)
    const process = start()
    await request(process)
    await runtime.advance(HOUR - 1)
    await request(process)
    expect(process.state().value).toBeUndefined()
    runtime.setClock(START + HOUR)
    await runtime.advance(SECOND)
    expect(await process.get()).toMatchObject({ value: 41, hit: true })
    expect(world.restored).toEqual([START + HOUR + SECOND])
  })

  it.each([
    ['a newer publication', 3, START - HOUR, true],
    ['the same one, loaded later', 2.5, START + 1, true],
    ['the same one, loaded at the same time', 2.5, START, false],
    ['the same one, loaded before', 2.5, START - 1, false],
    ['an older one, loaded later', 1, START + HOUR, false],
  ])('replaces the cached one only if it is newer: %s', async (_what, found, loadedAt, isTaken) => {
    const world = createWorld()
    const { runtime, store, upstream, start, restored } = world
    upstream.respond = () => 2
    const process = start()
    await process.get()
    await runtime.advance(2 * HOUR)
    world.save(found, loadedAt)
    store.grants = false
    await process.refresh()
    expect(process.state().value).toBe(isTaken ? found : 2)
    expect(restored).toEqual(isTaken ? [loadedAt] : [])
  })

  it('is validated against the value in memory, and rejected where that throws', async () => {
    const validated: unknown[][] = []
    const world = createWorld()
    const { runtime, upstream, rejected } = world
    upstream.respond = refuseFor(60 * DAY)
    const process = world.start({
      validateStored(value, { last, current, entry }) {
        validated.push([value, last, current, entry?.loadedAt])
        if (value === 9) throw new Error('suspicious')
        return value + 0.5
      },
    })
    for (const value of [1, 2, 9, 3]) {
      if (value === 9) await runtime.advance(8 * DAY)
      world.save(value, runtime.now())
      await runtime.advance(2 * HOUR)
      await process.refresh()
      await request(process)
    }
    expect(process.state().value).toBe(3.5)
    expect(validated).toEqual([
      [1, undefined, undefined, undefined],
      [2, 1.5, 1.5, START],
      [9, 2.5, undefined, undefined],
      [3, 2.5, undefined, undefined],
    ])
    expect([rejected, world.restored.length]).toEqual([['suspicious'], 3])
  })
})

describe('the store behind a read-through', () => {
  it('is read once for all concurrent requests', async () => {
    const { runtime, store, start } = createWorld()
    const read = store.hold()
    const process = start()
    const results = Array.from({ length: 10 }, () => request(process))
    const refresh = process.refresh()
    await runtime.advance(49)
    read.resolve(envelope())
    await refresh
    expect(store.reads).toBe(1)
    for (const result of await Promise.all(results)) expect(result).toMatchObject({ value: 41 })
  })

  it.each([
    { since: 999, reads: 1 },
    { since: 1_000, reads: 2 },
  ])('is read $reads times when a refresh follows after $since ms', async ({ since, reads }) => {
    const { runtime, store, upstream, start } = createWorld()
    upstream.respond = refuse
    const process = start()
    await request(process)
    await runtime.advance(since)
    // The system clock ends the backoff.
    runtime.setClock(START + MINUTE)
    await process.refresh()
    expect([store.reads, upstream.calls]).toEqual([reads, 2])
  })

  it.each([
    { interval: SECOND, where: 'no value' },
    { interval: 10 * SECOND, where: 'a stale value' },
  ])('is read every $interval ms during backoff with $where', async ({ interval, where }) => {
    const world = createWorld()
    const { runtime, store, upstream } = world
    const process = world.start()
    if (where === 'a stale value') await world.becomeOverdue(process)
    upstream.calls = 0
    upstream.respond = refuseFor(HOUR)
    await process.refresh()
    const { reads } = store
    for (let tenths = 0; tenths < 25; tenths += 1) {
      await request(process)
      await runtime.advance(interval / 10)
    }
    expect(store.reads - reads).toBe(2)
    world.save(5, runtime.now())
    await runtime.advance(interval / 2)
    await request(process)
    await settled()
    expect(await request(process)).toMatchObject({ value: 5, hit: true })
    expect(upstream.calls).toBe(1)
  })

  it('is not read while a value is loaded', async () => {
    const { runtime, store, upstream, process } = await startOverdue()
    upstream.respond = hang
    void process.get()
    await settled()
    const { reads } = store
    await runtime.advance(15 * SECOND)
    void process.get()
    await settled()
    expect([store.reads, upstream.calls]).toEqual([reads, 2])
  })

  it.each([
    ['throws', throwRefusal],
    ['rejects', refuse],
    ['hangs', hang],
  ])('is a miss when it %s, and its failures are reported', async (how, fault) => {
    const { runtime, store, start, storeFailures } = createWorld()
    Object.assign(store, { get: fault, set: fault, claim: fault })
    const result = request(start())
    await runtime.advance(how === 'hangs' ? 100 : 0)
    expect(await result).toMatchObject({ value: 1, hit: false })
    await runtime.advance(SECOND)
    const failures = Object.entries({ get: 50, claim: 50, set: 1_000 }).map(
      ([operation, timeout]) => {
        const reason = how === 'hangs' ? `.*\\b${timeout} ms` : 'refused'
        return expect.stringMatching(`^${operation} number: ${reason}$`)
      },
    )
    expect(storeFailures).toEqual(failures)
    expect(runtime.timers()).toBe(0)
  })

  it('is in time where the event loop was blocked while it responded', async () => {
    const { runtime, store, upstream, start } = createWorld()
    const read = store.hold()
    // Both are due at once, as after a block: first the timer of the store, then its response.
    const result = request(start())
    runtime.startTimer(() => read.resolve(envelope()), 50)
    await runtime.advance(50)
    expect(await result).toMatchObject({ value: 41, hit: true })
    expect(upstream.calls).toBe(0)
  })

  it('is used by a caller that waits for a load when it responds late', async () => {
    const { runtime, store, upstream, start } = createWorld()
    const read = store.hold()
    upstream.respond = async () => {
      read.resolve(envelope())
      await settled()
      throw new Error('refused')
    }
    const result = request(start())
    await runtime.advance(50)
    expect(await result).toEqual({ value: 41, hit: false, ttl: 3_629 })
  })
})
