import { describe, expect, it } from 'vitest'

import type { Decision, OpenCounters } from '../../src/access/counters.ts'
import { createAccess } from '../../src/access/index.ts'
import { createSafeCounters } from '../../src/access/safe-counters.ts'
import type { RatesEvent } from '../../src/events.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import { START, burst } from './fleet.ts'

const LIMITS = [burst(3, 60_000)]

const GOOD = { granted: true, states: [{ remaining: 2, reset: 1, wait: 0 }] }

const stateWith = (wrong: object) => ({ granted: true, states: [{ ...GOOD.states[0], ...wrong }] })

/** Takes as JavaScript would: results of any type. */
type Take = (...args: Parameters<OpenCounters['take']>) => unknown

function openSafe(take: Take, policy: 'local' | 'allow' | 'refuse') {
  const runtime = virtualRuntime(START)
  const events: RatesEvent[] = []
  const isDecision = (_value: unknown): _value is Decision | Promise<Decision> => true
  const counters = createSafeCounters(
    {
      open: () => ({
        take(...args) {
          const result = take(...args)
          if (!isDecision(result)) throw new Error('unreachable')
          return result
        },
        close() {},
      }),
    },
    policy,
  )
  const open = counters.open({ runtime, emit: (event) => void events.push(event) })
  return {
    runtime,
    events,
    open,
    /** Takes one permit, and lets a timeout pass. */
    async take(client = 'address:203.0.113.9') {
      const decision = (async () => open.take(client, LIMITS, 1))()
      decision.catch(() => undefined)
      await settled()
      await runtime.advance(51)
      return decision
    },
  }
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

const FAILURES: [name: string, take: Take][] = [
  ['throw', throws(new Error('no connection'))],
  ['throw undefined', throws(undefined)],
  ['throw a getter that throws', throws(getting('message'))],
  ['reject', async () => Promise.reject(new Error('no connection'))],
  ['hang', () => new Promise(() => undefined)],
  ['hang in a thenable', () => thenable(() => undefined)],
  ['throw in a thenable', () => thenable(throwError)],
  ['return nothing', () => undefined],
  ['return null', () => null],
  ['return true', () => true],
  ['resolve to nothing', async () => undefined],
  ['return text', async () => 'granted'],
  ['return states of another plan', () => ({ granted: true, states: [] })],
  [
    'return one state too many',
    () => ({ granted: true, states: [...GOOD.states, ...GOOD.states] }),
  ],
  ['return granted as text', () => ({ ...GOOD, granted: 'yes' })],
  ['return states that are not a list', () => ({ granted: true, states: { length: 1 } })],
  ['return a state that is null', () => ({ granted: true, states: [null] })],
  ['return NaN', () => stateWith({ remaining: NaN })],
  ['return Infinity', () => stateWith({ reset: Infinity })],
  ['return a negative number', () => stateWith({ remaining: -1 })],
  ['return numbers as text', () => stateWith({ remaining: '1' })],
  ['refuse without a wait', () => ({ ...GOOD, granted: false })],
  ['return a getter that throws', () => getting('granted')],
  ['return a proxy that throws', () => new Proxy({}, { get: () => throwError() })],
]

describe('counters', () => {
  it.each(FAILURES)('that %s count in this process, grant all or refuse all', async (_, take) => {
    const safe = openSafe(take, 'local')
    const granted = [(await safe.take()).granted]
    const about = { reason: expect.stringMatching(/./), error: expect.any(Error) }
    expect(safe.events).toEqual([{ type: 'counters_failed', operation: 'take', ...about }])
    for (let count = 1; count < 8; count += 1) granted.push((await safe.take()).granted)
    expect(granted).toEqual([true, true, true, false, false, false, false, false])
    expect(await safe.take('address:203.0.113.10')).toMatchObject({
      granted: true,
      states: [{ remaining: 2 }],
    })
    for (const policy of ['allow', 'refuse'] as const) {
      const other = openSafe(take, policy)
      for (let count = 0; count < 8; count += 1) {
        expect(await other.take()).toEqual({ granted: policy === 'allow', states: [] })
      }
    }
  })
})

describe('createSafeCounters()', () => {
  it('passes decisions on, at once where they are synchronous', async () => {
    const { open, events } = openSafe(() => GOOD, 'refuse')
    expect(open.take('key:a', LIMITS, 1)).toMatchObject(GOOD)
    const later = openSafe(async () => GOOD, 'refuse')
    expect(await later.open.take('key:a', LIMITS, 1)).toMatchObject(GOOD)
    expect(later.runtime.timers()).toBe(0)
    expect(events).toEqual([])
  })

  it('skips counters for 5 s after 5 failures in a row, then tries one request', async () => {
    let calls = 0
    let isFailing = true
    const safe = openSafe(() => {
      calls += 1
      return isFailing ? undefined : GOOD
    }, 'allow')
    for (let count = 0; count < 20; count += 1) await safe.open.take('key:a', LIMITS, 1)
    expect(calls).toBe(5)
    await safe.runtime.advance(5_000)
    for (let count = 0; count < 20; count += 1) await safe.open.take('key:a', LIMITS, 1)
    expect(calls).toBe(6)
    isFailing = false
    await safe.runtime.advance(5_000)
    expect(safe.open.take('key:a', LIMITS, 1)).toMatchObject(GOOD)
    expect(safe.open.take('key:a', LIMITS, 1)).toMatchObject(GOOD)
  })

  it('emits one event a second, with the number of failures left out', async () => {
    const safe = openSafe(throws(new Error('no connection')), 'allow')
    for (let count = 0; count < 100; count += 1) await safe.open.take('key:a', LIMITS, 1)
    expect(safe.events).toHaveLength(1)
    await safe.runtime.advance(5_000)
    await safe.open.take('key:a', LIMITS, 1)
    const reasons = safe.events.map((event) => ('reason' in event ? event.reason : ''))
    // After five failures the counters are not called.
    expect(reasons).toEqual(['no connection', 'no connection (and 4 more)'])
  })

  it('leaves the client out of events, which errors of a database may quote', async () => {
    const error = Object.assign(new Error('failed: EVALSHA limits:v1:address:203.0.113.9'), {
      command: { args: ['address:203.0.113.9'] },
    })
    const safe = openSafe(throws(error), 'local')
    await safe.take()
    const [event] = safe.events
    expect(event).toMatchObject({ reason: 'failed: EVALSHA limits:v1:address:…' })
    const emitted = event && 'error' in event ? event.error : undefined
    expect(`${String(emitted)}${JSON.stringify(emitted)}`).not.toContain('203.0.113.9')
    expect(emitted).not.toBe(error)
  })

  it('gives back where the request was counted, and survives a failure', async () => {
    let isFailing = false
    const given: number[] = []
    const giveBack = (cost: number): void => {
      given.push(cost)
      throw new Error('no connection')
    }
    const safe = openSafe(() => (isFailing ? undefined : { ...GOOD, giveBack }), 'local')
    const shared = await safe.take()
    isFailing = true
    const local = await safe.take()
    for (let count = 0; count < 2; count += 1) await safe.take()
    expect(await safe.take()).toMatchObject({ granted: false })
    shared.giveBack?.(1)
    expect(given).toEqual([1])
    expect(safe.events).toMatchObject([{ operation: 'take' }, { operation: 'give_back' }])
    expect(await safe.take()).toMatchObject({ granted: false })
    local.giveBack?.(1)
    expect(given).toEqual([1])
    expect(await safe.take()).toMatchObject({ granted: true })
  })
})

describe('a handler whose counters fail', () => {
  it.each([
    [undefined, [200, 200, 429], [true, true, true]],
    ['local', [200, 200, 429], [true, true, true]],
    ['allow', [200, 200, 200], [false, false, false]],
    ['refuse', [503, 503, 503], [false, false, false]],
  ] as const)('responds according to whenCountersFail %j', async (policy, statuses, limited) => {
    const take = () => Promise.reject(new Error('no connection'))
    const handler = createRatesHandler({
      providers: fakeProviders(),
      access: createAccess({
        anonymous: 'public',
        plans: { public: '2/h' },
        client: () => '203.0.113.9',
        whenCountersFail: policy,
        counters: { open: () => ({ take, close() {} }) },
      }),
    })
    const responses = []
    for (let count = 0; count < 3; count += 1) {
      responses.push(await handler(new Request('http://localhost/api/v1/convert?from=X')))
    }
    const served = responses.map(({ status }) => (status === 400 ? 200 : status))
    expect(served).toEqual(statuses)
    expect(responses.map(({ headers }) => headers.has('RateLimit'))).toEqual(limited)
    const refused = responses.filter(({ status }) => status === 503)
    for (const { headers } of refused) {
      expect([headers.get('Retry-After'), headers.get('Cache-Control')]).toEqual(['5', 'no-store'])
    }
  })
})
