import { expect } from 'vitest'

import type { DailyDataSet as DataSet } from '../../daily-data-set.ts'
import { HOSTS } from '../../fixtures/contract.ts'
import { expectGood, expectOwnHeaders, expectUnavailable, ttlOf } from './answers.ts'
import type { Freshness } from './answers.ts'
import { expectSame } from './expect-same.ts'
import { verdictIn } from './journey.ts'
import type { Journey } from './journey.ts'
import { expectSoundStores } from './stored.ts'
import type { Truth } from './truth.ts'
import { NONCE } from './upstream.ts'
import type { Reply } from './world.ts'

/** The longest that anybody waits, in ms. */
const BUDGET = 5_000

/** And for one operation of a store. */
const STORE_LIMIT = 50

const MOST_CALLS_PER_ATTEMPT = 3

/** The table of one base; days from one to another, both named. */
const PATHS: Record<DataSet, RegExp> = {
  latest: /^\/v6\/latest\/USD$/,
  history: /^\/v1\/\d{4}-\d\d-\d\d\.\.\d{4}-\d\d-\d\d$/,
}

/** Everything that a call of an upstream may ask of `fetch`: in particular, nothing about certificates. */
const CALL_OPTIONS = 'cache,headers,redirect,signal'

/** What no answer may hold. */
const PRIVATE = [
  NONCE,
  'er-api.com/',
  'api.frankfurter',
  'fetch failed',
  'quota-reached',
  '    at ',
]

const PROTOTYPE = Reflect.ownKeys(Object.prototype).length

/** What must hold of every fault in every state, by name. */
export const CHECKS: Readonly<Record<string, (journey: Journey) => void>> = {
  'who meets the fault is answered as documented'(journey) {
    const { state, first, now, before } = journey
    for (const reply of distinct(first)) {
      if (state === 'fresh') expectGood(reply, must(before), ['fresh'])
      else if (state === 'warm') expectGood(reply, must(before), ['stale'])
      else if (isRefused(journey, reply)) expectUnavailable(reply)
      else expectGood(reply, now, ['loaded', 'fresh'])
    }
  },

  'whoever comes later is answered as documented'(journey) {
    const { isServed, now, after, paused, state, variant, dataSet } = journey
    const isStale = isServed && state === 'warm' && verdictIn(variant, state) === 'refused'
    for (const reply of distinct([...after, ...paused])) {
      const isAbout = dataSetOf(reply) === dataSet
      const wanted: readonly Freshness[] = isStale && isAbout ? ['stale'] : ['fresh']
      if (isRefused(journey, reply) && !isServed) expectUnavailable(reply)
      else expectGood(reply, now, variant.freshness ?? wanted)
    }
  },

  'nobody waits too long'({ state, variant, first, after, paused }) {
    const isInstant = state === 'warm' || state === 'fresh'
    const { takes = 0 } = variant
    const forStore = variant.store ? 2 * STORE_LIMIT : 0
    const forFirst = forStore + Math.min(takes === 'limit' ? BUDGET : takes, BUDGET)
    for (const { waited, target } of first) {
      expectSame(waited <= (isInstant ? 0 : forFirst), true, `${target}: ${waited} ms`)
    }
    for (const { waited, target } of [...after, ...paused]) {
      expectSame(waited <= (isInstant ? 0 : forStore), true, `${target}: ${waited} ms`)
    }
  },

  'upstream is asked once, then left alone'(journey) {
    const { state, variant, dataSet, attempts, world } = journey
    const wanted = variant.attempts?.[state] ?? (state === 'fresh' ? 0 : undefined)
    const processes = world.services.length
    if (wanted !== undefined) expect(attempts[dataSet]).toBe(wanted)
    else expect(attempts[dataSet]).toBeGreaterThanOrEqual(1)
    expect(attempts.latest).toBeLessThanOrEqual(wanted ?? processes)
    expect(attempts.history).toBeLessThanOrEqual(wanted ?? processes)
    const calls = world.upstream.calls.filter((call) => call.dataSet === dataSet)
    expect(calls.length).toBeLessThanOrEqual(MOST_CALLS_PER_ATTEMPT * world.attempts(dataSet))
  },

  'upstream is asked in good form'({ world }) {
    for (const { dataSet, url, init } of world.upstream.calls) {
      expectSame(url.protocol, 'https:')
      expectSame(HOSTS[dataSet].includes(url.host), true, url.host)
      expectSame(PATHS[dataSet].test(url.pathname), true, url.pathname)
      expectSame(url.search, '')
      expectSame(Object.keys(init).toSorted().join(), CALL_OPTIONS)
      expectSame(`${init.cache} ${init.redirect}`, 'no-store manual')
      // No cookies, no keys, and no validators: a 304 would answer a question that was not asked.
      expectSame([...new Headers(init.headers)].join(), 'accept,application/json')
    }
  },

  'no answer says anything private'({ first, after, paused, recovered }) {
    for (const reply of distinct([...first, ...after, ...paused, ...recovered])) {
      const said = toText(reply)
      expectSame(PRIVATE.filter((text) => said.includes(text)).join(), '', said)
      expectOwnHeaders(reply)
    }
  },

  'a failed refresh makes nothing younger'(journey) {
    const { state, variant, first, paused, dataSet } = journey
    if (state !== 'warm' || verdictIn(variant, state) !== 'refused') return
    for (const reply of paused.filter((each) => dataSetOf(each) === dataSet)) {
      const earlier = first.find(({ target }) => target === reply.target)
      if (!earlier) continue
      expect(reply.body).toBe(earlier.body)
      expect(reply.headers['etag']).toBe(earlier.headers['etag'])
      expect(ttlOf(reply)).toBeLessThanOrEqual(ttlOf(earlier))
    }
  },

  'nothing bad is kept in a store': expectSoundStores,

  'the operator is told'({ world, state, variant, dataSet, beganAt }) {
    const events = world.services.flatMap((service) => service.events)
    const types = events.filter(({ at }) => at >= beganAt).map(({ event }) => event.type)
    expect(types).not.toContain('internal_error')
    if (state === 'fresh') return
    expect(types).toEqual(expect.arrayContaining([...(variant.told ?? [])]))
    if (verdictIn(variant, state) === 'accepted') return
    const failures = events.filter(
      ({ event }) =>
        (event.type === 'upstream_failed' || event.type === 'rates_rejected') &&
        event.dataSet === dataSet &&
        event.reason.length > 0,
    )
    expect(failures).not.toEqual([])
  },

  'no prototype is touched'() {
    expect(Reflect.ownKeys(Object.prototype)).toHaveLength(PROTOTYPE)
  },

  'fresh data come once the fault is gone'({
    recovered,
    afterwards,
    attempts,
    attemptsAfterwards,
    dataSet,
  }) {
    for (const reply of distinct(recovered)) expectGood(reply, afterwards, ['fresh', 'loaded'])
    expect(attemptsAfterwards[dataSet]).toBeGreaterThan(attempts[dataSet])
  },
}

/** Closes every process of the world, and demands that nothing of theirs is left. */
export async function expectNothingLeft({ world }: Journey): Promise<void> {
  const { machine, services } = world
  // A store may take a second for a write.
  await machine.advance(2_000)
  for (const service of services) {
    expect(service.process.timers(), 'timers of an idle handler').toBe(0)
    service.handler.close()
  }
  await machine.advance(60_000)
  for (const service of services) {
    expect(service.process.timers(), 'timers of a closed handler').toBe(0)
    expect(service.listeners(), 'listeners on the signals of those who asked').toBe(0)
  }
}

/** One of each, however often it was given. */
function distinct(replies: readonly Reply[]): Reply[] {
  return [...new Map(replies.map((each) => [toText(each), each])).values()]
}

function toText({ target, status, headers, body }: Reply): string {
  return `${target} ${status} ${Object.entries(headers).join()} ${body}`
}

function isRefused({ variant, state, dataSet }: Journey, reply: Reply): boolean {
  return dataSetOf(reply) === dataSet && verdictIn(variant, state) === 'refused'
}

function dataSetOf({ target }: Reply): DataSet {
  return target.includes('/history') ? 'history' : 'latest'
}

function must(truth: Truth | undefined): Truth {
  if (!truth) throw new Error('nothing was served before')
  return truth
}
