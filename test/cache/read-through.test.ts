import { describe, expect, it } from 'vitest'

import { guardStore } from '../../src/cache/guarded-store.ts'
import { createReadThrough } from '../../src/cache/read-through.ts'
import type { ReadThrough, ReadThroughOptions } from '../../src/cache/read-through.ts'
import { createStoredValue } from '../../src/cache/stored-value.ts'
import type { CacheStore } from '../../src/cache/store.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2026, 10, 20, 12)

interface Counting {
  runtime: VirtualRuntime
  source: {
    calls: number
    mode: 'answer' | 'fail' | 'hang'
    signals: AbortSignal[]
    finish(): void
  }
  value: ReadThrough<number>
}

/** A source that answers with the number of the call and promises the next for an hour later; it may fail or hang. */
function counting(
  overrides: (runtime: VirtualRuntime) => Partial<ReadThroughOptions<number>> = () => ({}),
): Counting {
  const runtime = virtualRuntime(START)
  const source: Counting['source'] = { calls: 0, mode: 'answer', signals: [], finish() {} }
  const value = createReadThrough<number>({
    runtime,
    async load(signal) {
      source.calls += 1
      source.signals.push(signal)
      if (source.mode === 'fail') throw new Error('refused')
      if (source.mode === 'hang') {
        await new Promise<void>((resolve) => {
          source.finish = resolve
        })
      }
      return source.calls
    },
    lifetime: () => ({ nextUpdateAt: runtime.now() + HOUR, longestLife: 25 * HOUR }),
    publishedAt: () => 0,
    maxStale: 7 * DAY,
    stored: undefined,
    waitUntil: undefined,
    onRestored() {},
    onScheduled() {},
    onStale() {},
    ...overrides(runtime),
  })
  return { runtime, source, value }
}

describe('a cold value', () => {
  it('is loaded once for any number of callers', async () => {
    const { source, value } = counting()
    const readings = await Promise.all(Array.from({ length: 1_000 }, async () => value.get()))
    expect(source.calls).toBe(1)
    expect(readings.every((reading) => reading.value === 1 && !reading.hit)).toBe(true)
  })

  it('goes on for the others when callers abort', async () => {
    const { runtime, source, value } = counting()
    source.mode = 'hang'
    const controllers = Array.from({ length: 10 }, () => new AbortController())
    const outcomes = Promise.allSettled(
      controllers.map(async (controller) => value.get(controller)),
    )
    await settled()
    for (const controller of controllers.slice(1)) controller.abort()
    await settled()
    source.finish()
    const [survivor, ...others] = await outcomes
    expect(survivor).toMatchObject({ status: 'fulfilled', value: { value: 1 } })
    expect(others.every(({ status }) => status === 'rejected')).toBe(true)
    expect(source.signals[0]?.aborted).toBe(false)
    expect(runtime.timers()).toBe(0)
  })

  it('is loaded to the end when all callers abort, for whoever comes next', async () => {
    const { source, value } = counting()
    source.mode = 'hang'
    const controller = new AbortController()
    const waiting = (async () => value.get(controller))().catch((error: Error) => error.name)
    await settled()
    controller.abort()
    expect(await waiting).toBe('UnavailableError')
    source.finish()
    await settled()
    expect(await value.get()).toMatchObject({ value: 1, hit: true })
    expect(source.calls).toBe(1)
  })

  it('is not loaded for a caller who has left already', async () => {
    const { source, value } = counting()
    await expect(value.get({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'UnavailableError',
    })
    expect(source.calls).toBe(0)
  })

  it('gives up on a caller after 5 s, but not on the load', async () => {
    const { runtime, source, value } = counting()
    source.mode = 'hang'
    const failed = (async () => value.get())().catch((error: unknown) => error)
    await runtime.advance(5 * SECOND)
    expect(await failed).toMatchObject({ name: 'UnavailableError', pause: 5_000 })
    expect(source.signals[0]?.aborted).toBe(false)
  })

  it('frees the place of a load that ignores its signal after 20 s, and asks again after the pause', async () => {
    const { runtime, source, value } = counting()
    source.mode = 'hang'
    const first = (async () => value.get())().catch(() => undefined)
    await runtime.advance(20 * SECOND)
    await first
    expect(source.signals[0]?.aborted).toBe(true)
    source.mode = 'answer'
    await runtime.advance(SECOND)
    expect((await value.get()).value).toBe(2)
    expect(runtime.timers()).toBe(0)
  })

  it('is refused at once within the pause after a failure', async () => {
    const { runtime, source, value } = counting()
    source.mode = 'fail'
    for (let question = 0; question < 1_000; question += 1) {
      await expect(value.get()).rejects.toMatchObject({ name: 'UnavailableError' })
    }
    expect(source.calls).toBe(1)
    await runtime.advance(SECOND)
    await expect(value.get()).rejects.toThrow('nothing to answer with')
    expect(source.calls).toBe(2)
  })

  it('is asked for less than 300 times a day while the source is down', async () => {
    const { runtime, source, value } = counting()
    source.mode = 'fail'
    for (let second = 0; second < 86_400; second += 10) {
      await (async () => value.get())().catch(() => undefined)
      runtime.setClock(START + second * SECOND)
    }
    expect(source.calls).toBeGreaterThan(200)
    expect(source.calls).toBeLessThan(300)
  })
})

describe('a held value', () => {
  it('is fresh until the promised update and its jitter are past', async () => {
    const { runtime, source, value } = counting()
    await value.get()
    await runtime.advance(HOUR + 29 * SECOND)
    expect(await value.get()).toEqual({ value: 1, hit: true, ttl: 1 })
    expect(source.calls).toBe(1)
  })

  it('is answered with at once when overdue, while one load runs behind it', async () => {
    const { runtime, source, value } = counting()
    await value.get()
    await runtime.advance(HOUR + 31 * SECOND)
    const readings = await Promise.all(Array.from({ length: 100 }, async () => value.get()))
    expect(readings).toEqual(Array.from({ length: 100 }, () => ({ value: 1, hit: true, ttl: -1 })))
    await settled()
    expect(source.calls).toBe(2)
    expect((await value.get()).value).toBe(2)
  })

  it('stays when its refresh fails, until it is overdue by more than maxStale', async () => {
    const { runtime, source, value } = counting()
    await value.get()
    source.mode = 'fail'
    await runtime.advance(HOUR + 7 * DAY)
    expect(await value.get()).toMatchObject({ value: 1, hit: true })
    await runtime.advance(1 + 300 * SECOND)
    await expect(value.get()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  it('lives at least ten minutes and at most as long as allowed, whatever the source promises', async () => {
    const past = counting(() => ({
      lifetime: () => ({ nextUpdateAt: 0, longestLife: 25 * HOUR }),
    }))
    await past.value.get()
    await past.runtime.advance(10 * MINUTE)
    expect(await past.value.get()).toMatchObject({ ttl: 30 })
    const far = counting(() => ({
      lifetime: () => ({ nextUpdateAt: 9e15, longestLife: 25 * HOUR }),
    }))
    expect(await far.value.get()).toMatchObject({ ttl: (25 * HOUR) / SECOND })
  })

  it('is refreshed by the clock that never jumps when the other one is set back', async () => {
    const { runtime, source, value } = counting()
    await value.get()
    runtime.setClock(START - DAY)
    await runtime.advance(HOUR + MINUTE)
    expect(await value.get()).toMatchObject({ value: 1 })
    await settled()
    expect(source.calls).toBe(2)
  })

  it('is not made younger, nor its age hidden, by a clock that is set back', async () => {
    const { runtime, source, value } = counting()
    await value.get()
    source.mode = 'fail'
    runtime.setClock(START - 365 * DAY)
    await runtime.advance(2 * HOUR)
    expect((await value.get()).ttl).toBe(-(HOUR / SECOND) + 30)
    await runtime.advance(8 * DAY)
    await expect(value.get()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  it('has the age that the clock says, also where that one stands still, as a test may have it', async () => {
    let monotonic = 0
    const { value } = counting((runtime) => ({
      runtime: { ...runtime, now: () => START, monotonic: () => (monotonic += 600_000) },
    }))
    const ttls = [await value.get(), await value.get(), await value.get()].map(({ ttl }) => ttl)
    expect(ttls).toEqual([ttls[0], ttls[0], ttls[0]])
  })

  it('ages on when the clock is set back by less than the value is old', async () => {
    const { runtime, value } = counting()
    await value.get()
    await runtime.advance(50 * MINUTE)
    const before = (await value.get()).ttl
    runtime.setClock(START + 30 * MINUTE)
    expect((await value.get()).ttl).toBe(before)
    await runtime.advance(MINUTE)
    expect((await value.get()).ttl).toBe(before - 60)
  })

  it('is kept for maxStale past an update that is far away', async () => {
    const { runtime, source, value } = counting(() => ({
      lifetime: () => ({ nextUpdateAt: START + 30 * DAY, longestLife: 25 * HOUR }),
    }))
    await value.get()
    source.mode = 'fail'
    await runtime.advance(37 * DAY)
    expect(await value.get()).toMatchObject({ value: 1, hit: true })
    await runtime.advance(301 * SECOND)
    await expect(value.get()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  it('is refreshed once when the clock jumps ahead', async () => {
    const { runtime, source, value } = counting()
    await value.get()
    runtime.setClock(START + DAY)
    await Promise.all([value.get(), value.get()])
    await settled()
    expect(source.calls).toBe(2)
  })

  it('does not get younger again when the clock passes where it was set back from', async () => {
    const { runtime, source, value } = counting()
    await value.get()
    source.mode = 'fail'
    await runtime.advance(7 * DAY)
    await value.get()
    runtime.setClock(START + DAY)
    await runtime.advance(5 * DAY)
    await expect(value.get()).rejects.toMatchObject({ name: 'UnavailableError' })
    await runtime.advance(2 * DAY)
    await expect(value.get()).rejects.toMatchObject({ name: 'UnavailableError' })
  })

  it('is loaded anew as soon as it is too old, also where nothing may be overdue', async () => {
    const { runtime, source, value } = counting(() => ({ maxStale: 0 }))
    await value.get()
    await runtime.advance(HOUR)
    expect(await value.get()).toMatchObject({ value: 1, hit: true })
    await runtime.advance(1)
    expect(await value.get()).toMatchObject({ value: 2, hit: false })
    expect(source.calls).toBe(2)
  })

  it('hands each refresh behind an answer to waitUntil, which may throw', async () => {
    const works: Promise<unknown>[] = []
    const { runtime, source, value } = counting(() => ({
      waitUntil(work) {
        works.push(work)
        throw new Error('too late')
      },
    }))
    await value.get()
    await runtime.advance(2 * HOUR)
    source.mode = 'fail'
    expect(await value.get()).toMatchObject({ value: 1 })
    expect(works).toHaveLength(1)
    await expect(works[0]).resolves.toBeUndefined()
  })

  it('hands a load that outlives those who wait for it to waitUntil', async () => {
    const works: Promise<unknown>[] = []
    const { runtime, source, value } = counting(() => ({
      waitUntil: async (work) => {
        works.push(work)
        throw new Error('rejected')
      },
    }))
    source.mode = 'hang'
    const waiting = (async () => value.get())().catch((error: Error) => error.name)
    await runtime.advance(5 * SECOND)
    expect(await waiting).toBe('UnavailableError')
    expect(works).toHaveLength(1)
    source.finish()
    await works[0]
    expect(await value.get()).toMatchObject({ value: 1, hit: true })
  })
})

describe('refresh()', () => {
  it('loads what is due and nothing else', async () => {
    const { runtime, source, value } = counting()
    await value.refresh()
    await value.refresh()
    expect(source.calls).toBe(1)
    await runtime.advance(2 * HOUR)
    await value.refresh()
    expect(source.calls).toBe(2)
  })

  it('never rejects', async () => {
    const { source, value } = counting()
    source.mode = 'fail'
    await expect(value.refresh()).resolves.toBeUndefined()
    await expect(value.refresh()).resolves.toBeUndefined()
    expect(source.calls).toBe(1)
  })
})

describe('close()', () => {
  it('aborts the load under way and starts none any more', async () => {
    const { runtime, source, value } = counting()
    source.mode = 'hang'
    const waiting = (async () => value.get())().catch((error: Error) => error.name)
    await settled()
    value.close()
    expect(await waiting).toBe('UnavailableError')
    expect(source.signals[0]?.aborted).toBe(true)
    await runtime.advance(HOUR)
    await expect(value.get()).rejects.toMatchObject({ name: 'UnavailableError' })
    expect(source.calls).toBe(1)
    expect(runtime.timers()).toBe(0)
  })

  it('leaves what is held to be answered with', async () => {
    const { runtime, source, value } = counting()
    await value.get()
    value.close()
    await runtime.advance(DAY)
    expect(await value.get()).toMatchObject({ value: 1, hit: true })
    expect(source.calls).toBe(1)
  })
})

describe('a store behind the value', () => {
  function stored(store: CacheStore): Counting & { failures: string[] } {
    const failures: string[] = []
    const counted = counting((runtime) => ({
      lifetime: () => ({ nextUpdateAt: START + HOUR, longestLife: 25 * HOUR }),
      stored: createStoredValue<number>({
        store: guardStore(store, runtime, (operation) => failures.push(operation)),
        key: 'number',
        runtime,
        toData: (number) => number,
        fromData(data) {
          if (typeof data !== 'number') throw new Error('not a number')
          return data
        },
        onRejected: () => failures.push('rejected'),
      }),
    }))
    return { ...counted, failures }
  }

  const envelope = (fields: object = {}): string =>
    JSON.stringify({ v: 1, key: 'number', savedAt: START, data: 41, ...fields })

  it('gets what was loaded, in an envelope that says what it is', async () => {
    const store = new Map<string, string>()
    const { value } = stored(store)
    await value.get()
    await settled()
    expect(JSON.parse(store.get('number') ?? '')).toEqual({
      v: 1,
      key: 'number',
      savedAt: START,
      data: 1,
    })
  })

  it('spares the load while its value is fresh', async () => {
    const { source, value } = stored(new Map([['number', envelope()]]))
    expect(await value.get()).toMatchObject({ value: 41, hit: true })
    expect(source.calls).toBe(0)
  })

  it('is answered with while overdue, with a load behind it', async () => {
    const { runtime, source, value } = stored(new Map([['number', envelope()]]))
    await runtime.advance(2 * HOUR)
    expect(await value.get()).toMatchObject({ value: 41, hit: true })
    await settled()
    expect(source.calls).toBe(1)
  })

  it('is passed over once its value is too old', async () => {
    const { runtime, source, value } = stored(new Map([['number', envelope()]]))
    await runtime.advance(30 * DAY)
    expect(await value.get()).toMatchObject({ value: 1, hit: false })
    expect(source.calls).toBe(1)
  })

  it.each([
    ['an older version', envelope({ v: 0 })],
    ['a newer version', envelope({ v: 2 })],
    ["another key's value", envelope({ key: 'other' })],
    ['a value that is not to be trusted', envelope({ data: '41' })],
    ['a moment that is none', envelope({ savedAt: 'yesterday' })],
    ['broken JSON', '{"v":1,'],
    ['JSON that is no envelope', '41'],
    ['null', 'null'],
    ['no text', 41],
    ['nothing', undefined],
  ])('is a miss with %s', async (_what, text) => {
    const { source, value } = stored({ get: () => text, set: () => {} })
    expect(await value.get()).toMatchObject({ value: 1, hit: false })
    expect(source.calls).toBe(1)
  })

  it('is a miss when it throws, rejects or hangs, and its failures are told', async () => {
    const refuse = (): never => {
      throw new Error('no store')
    }
    const throwing = stored({ get: refuse, set: refuse })
    expect((await throwing.value.get()).value).toBe(1)
    const rejecting = stored({ get: async () => refuse(), set: async () => refuse() })
    expect((await rejecting.value.get()).value).toBe(1)
    await settled()
    expect([throwing.failures, rejecting.failures]).toEqual([
      ['get', 'set'],
      ['get', 'set'],
    ])

    const forever = (): Promise<never> => new Promise(() => {})
    const hanging = stored({ get: forever, set: forever })
    const reading = hanging.value.get()
    await hanging.runtime.advance(50)
    expect((await reading).value).toBe(1)
    await hanging.runtime.advance(SECOND)
    expect(hanging.failures).toEqual(['get', 'set'])
    expect(hanging.runtime.timers()).toBe(0)
  })

  it('takes nothing away from the time there is to wait, nor adds to it, when it hangs', async () => {
    const forever = (): Promise<never> => new Promise(() => {})
    const { runtime, source, value } = stored({ get: forever, set: forever })
    source.mode = 'hang'
    const failed = (async () => value.get())().catch((error: unknown) => error)
    await runtime.advance(5 * SECOND - 1)
    expect(runtime.timers()).toBeGreaterThan(1)
    await runtime.advance(1)
    expect(await failed).toMatchObject({ pause: 5_000 })
    expect(runtime.timers()).toBe(1)
  })

  it('is not failed by a loop that was blocked while it answered', async () => {
    let answer = (_text: string): void => {}
    const { runtime, source, value } = stored({
      get: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
      set: () => {},
    })
    // Both are due at once, as after a block: first the timer, and only then what has come in.
    runtime.startTimer(() => answer(envelope()), 50)
    const reading = value.get()
    await runtime.advance(50)
    expect(await reading).toMatchObject({ value: 41, hit: true })
    expect(source.calls).toBe(0)
  })

  it('cannot make a value younger than now', async () => {
    const savedAt = START + 30 * DAY
    const { runtime, value } = stored(new Map([['number', envelope({ savedAt })]]))
    await value.get()
    await runtime.advance(2 * HOUR)
    expect((await value.get()).ttl).toBeLessThan(0)
  })
})
