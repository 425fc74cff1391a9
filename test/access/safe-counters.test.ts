import { describe, expect, it } from 'vitest'

import type { OpenCounters } from '../../src/access/index.ts'
import { settled } from '../virtual-runtime.ts'
import { limitIn, openGuard } from './service.ts'

const GOOD = { granted: true, states: [{ remaining: 2, reset: 1, wait: 0 }] }

const stateWith = (wrong: object) => ({ granted: true, states: [{ ...GOOD.states[0], ...wrong }] })

/** Takes as JavaScript would: results of any type. */
type Take = (...args: Parameters<OpenCounters['take']>) => unknown

type Policy = 'local' | 'allow' | 'refuse' | undefined

/** Opens a guard over counters that only have `take`, for three requests a minute. */
function openSafe(take: Take, whenCountersFail?: Policy) {
  const open = (): OpenCounters => {
    // @ts-expect-error counters must return decisions
    return { take, close() {} }
  }
  const { ask, runtime, events } = openGuard({
    plans: { public: '3/min' },
    counters: { open },
    whenCountersFail,
    client: ({ client = '' }) => client,
  })
  /** Asks, and lets a timeout pass. */
  async function statusOf(client = '203.0.113.9'): Promise<number> {
    const asked = ask({ client })
    await settled()
    await runtime.advance(51)
    return (await asked).status
  }
  const statuses = async (count: number) => {
    const all: number[] = []
    while (all.length < count) all.push(await statusOf())
    return all
  }
  return { ask, runtime, events, statusOf, statuses }
}

const throws =
  (error: unknown): Take =>
  () => {
    throw error
  }

function throwError(): never {
  throw new Error('x')
}

const getting = (name: string): object =>
  Object.defineProperty({}, name, { get: throwError, enumerable: true })

/** Returns an object like a promise of another realm. */
function thenable(then: () => void): object {
  return new Proxy({}, { get: (_target, name) => (name === 'then' ? then : undefined) })
}

const RESULTS: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  true: true,
  'a promise of nothing': Promise.resolve(),
  'a promise of text': Promise.resolve('granted'),
  'states of another plan': { granted: true, states: [] },
  'one state too many': { granted: true, states: [...GOOD.states, ...GOOD.states] },
  'granted as text': { ...GOOD, granted: 'yes' },
  'states that are not a list': { granted: true, states: { length: 1 } },
  'a state that is null': { granted: true, states: [null] },
  NaN: stateWith({ remaining: NaN }),
  Infinity: stateWith({ reset: Infinity }),
  'a negative number': stateWith({ remaining: -1 }),
  'numbers as text': stateWith({ remaining: '1' }),
  'a refusal without a wait': { ...GOOD, granted: false },
  'a getter that throws': getting('granted'),
  'a proxy that throws': new Proxy({}, { get: () => throwError() }),
}

const FAILURES: [name: string, take: Take][] = [
  ['throw', throws(new Error('no connection'))],
  ['throw undefined', throws(undefined)],
  ['throw a getter that throws', throws(getting('message'))],
  ['reject', async () => Promise.reject(new Error('no connection'))],
  ['hang', () => new Promise(() => undefined)],
  ['hang in a thenable', () => thenable(() => undefined)],
  ['throw in a thenable', () => thenable(throwError)],
  ...Object.keys(RESULTS).map((name): [string, Take] => [`return ${name}`, () => RESULTS[name]]),
]

describe('counters', () => {
  it.each(FAILURES)('that %s count in this process, grant all or refuse all', async (_, take) => {
    const safe = openSafe(take)
    const first = await safe.statusOf()
    const about = { reason: expect.stringMatching(/./), error: expect.any(Error) }
    expect(safe.events).toEqual([{ type: 'counters_failed', operation: 'take', ...about }])
    expect([first, ...(await safe.statuses(5))]).toEqual([200, 200, 200, 429, 429, 429])
    expect(await safe.statusOf('203.0.113.10')).toBe(200)
    for (const [policy, status] of [
      ['allow', 200],
      ['refuse', 503],
    ] as const) {
      const other = openSafe(take, policy)
      expect(new Set(await other.statuses(8))).toEqual(new Set([status]))
      expect((await other.ask()).header('ratelimit')).toBeUndefined()
    }
  })

  it('are refused with 5 s to wait', async () => {
    const { refusal, header } = await openSafe(throwError, 'refuse').ask()
    expect([refusal?.code, refusal?.retryAfter]).toEqual(['overloaded', 5])
    expect(header('cache-control')).toBe('no-store')
  })

  it.each<[string, () => unknown]>([
    ['at once', () => GOOD],
    ['later', async () => GOOD],
  ])('that decide %s are asked alone', async (_, take) => {
    const { ask, runtime, events } = openSafe(take, 'refuse')
    const { status, header } = await ask()
    expect([status, limitIn(header('ratelimit'), 'burst')]).toEqual([200, { r: 2, t: 1 }])
    expect([events, runtime.timers()]).toEqual([[], 0])
  })

  it('are skipped for 5 s after 5 failures in a row, then tried with one request', async () => {
    let calls = 0
    let isFailing = true
    const { ask, runtime } = openSafe(() => {
      calls += 1
      return isFailing ? undefined : GOOD
    }, 'allow')
    const after = async (wait: number, asked: number) => {
      await runtime.advance(wait)
      for (let count = 0; count < asked; count += 1) await ask()
      return calls
    }
    expect([await after(0, 20), await after(4_999, 20), await after(1, 20)]).toEqual([5, 5, 6])
    isFailing = false
    expect([await after(5_000, 1), await after(0, 20)]).toEqual([7, 27])
  })

  it('emit one event a second, with the number of failures left out and without the client', async () => {
    const client = '203.0.113.9'
    const error = Object.assign(new Error(`failed: EVALSHA limits:v1:address:${client}`), {
      command: { args: [`address:${client}`] },
    })
    const { ask, runtime, events } = openSafe(throws(error), 'allow')
    for (let count = 0; count < 100; count += 1) await ask({ client })
    await runtime.advance(5_000)
    await ask({ client })
    const reason = 'failed: EVALSHA limits:v1:address:…'
    // After five failures the counters are not called.
    expect(events).toMatchObject([{ reason }, { reason: `${reason} (and 4 more)` }])
    const errors = events.map((event) => ('error' in event ? event.error : undefined))
    expect(errors.map((each) => `${String(each)}${JSON.stringify(each)}`).join()).not.toContain(
      client,
    )
  })

  it('get back what they counted, and survive a failure of it', async () => {
    let isFailing = false
    const given: number[] = []
    const giveBack = (cost: number): void => {
      given.push(cost)
      throw new Error('no connection')
    }
    const { ask, events } = openSafe(() => (isFailing ? undefined : { ...GOOD, giveBack }))
    expect((await ask({ cost: 3, spent: 1 })).status).toBe(200)
    expect([given, events]).toEqual([[2], [expect.objectContaining({ operation: 'give_back' })]])
    isFailing = true
    const statuses: number[] = []
    for (const spent of [0, 1, 1, 1, 1]) statuses.push((await ask({ cost: 1, spent })).status)
    expect([statuses, given]).toEqual([[200, 200, 200, 200, 429], [2]])
  })
})
