import { expect } from 'vitest'

import { SECRET } from '../faults/fault.ts'
import type { DataSet } from '../faults/fault.ts'
import { CACHE_CONTROL, HISTORY_SOURCE, HOSTS, LATEST_SOURCE } from '../fixtures/contract.ts'
import { crossRate, inWindow, pairPoints, product, statsOf, toExact } from '../oracle.ts'
import type { Rates } from '../oracle.ts'
import { KEYS, verdictIn } from './journey.ts'
import type { Journey, Truth } from './journey.ts'
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

const PRIVATE = [
  SECRET,
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
      if (before && state === 'fresh') expectGood(reply, before, ['fresh'])
      else if (before && state === 'warm') expectGood(reply, before, ['stale'])
      else if (isRefused(journey, reply)) expectUnavailable(reply)
      else expectGood(reply, now, ['loaded', 'fresh'])
    }
  },

  'later callers get the documented answer'(journey) {
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
    expect(calls.length).toBeLessThanOrEqual(MOST_CALLS_PER_ATTEMPT * world.attempts()[dataSet])
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

  'events report the fault'({ world, state, variant, dataSet, beganAt }) {
    const events = world.services.flatMap((service) => service.events)
    const types = events.filter(({ at }) => at >= beganAt).map(({ event }) => event.type)
    expect(types).not.toContain('internal_error')
    if (state === 'fresh') return
    expect(types).toEqual(expect.arrayContaining([...(variant.reported ?? [])]))
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

  'fresh data come once the fault is gone'({ recovered, afterwards, dataSet, ...journey }) {
    for (const reply of distinct(recovered)) expectGood(reply, afterwards, ['fresh', 'loaded'])
    expect(journey.attemptsAfterwards[dataSet]).toBeGreaterThan(journey.attempts[dataSet])
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

const SENTENCE = 'The exchange-rate provider is unavailable. Please retry shortly.'

const DISCLAIMER =
  'Mid-market reference rates for information only, not an offer to exchange currency.'

const KNOWN_HEADERS = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'cache-status',
  'content-length',
  'content-type',
  'cross-origin-resource-policy',
  'etag',
  'last-modified',
  'retry-after',
  'x-content-type-options',
])

/** How fresh an answer says that it is. */
export type Freshness = 'fresh' | 'stale' | 'loaded'

const CACHE_STATUS: Record<Freshness, RegExp> = {
  fresh: /^rates; hit; ttl=\d+$/,
  stale: /^rates; hit; ttl=-[1-9]\d*; detail=stale$/,
  loaded: /^rates; fwd=miss$/,
}

/** Demands that `reply` is the documented 502. */
function expectUnavailable({ target, status, headers, body }: Reply): void {
  const isVersioned = target.startsWith('/api/v1/')
  expectSame(status, 502, body)
  const error = isVersioned ? { code: 'provider_unavailable', message: SENTENCE } : SENTENCE
  expectSame(body, JSON.stringify({ error }))
  expectJson(headers)
  expectSame(headers['cache-control'], 'no-store')
  expectSame(headers['etag'], undefined)
  const retryAfter = headers['retry-after'] ?? ''
  expectSame(/^([1-9]\d?|[12]\d\d|300)$/.test(retryAfter), true, `retry-after: ${retryAfter}`)
}

/** Demands that `reply` is a refusal with `status` that names `code`, and is not kept by anyone. */
export function expectRefusal({ target, ...reply }: Reply, status: number, code: string): void {
  expect(reply.status, `${target}: ${reply.body}`).toBe(status)
  expect(reply.headers['cache-control']).toBe('no-store')
  const { error } = JSON.parse(reply.body)
  expect(typeof error === 'string' ? error : error.message).toContain(code)
}

/**
 * Demands that `reply` is 200, says nothing but `truth`, and says honestly how fresh that is; or the documented 502 where
 * `truth` lacks a rate that it takes.
 */
export function expectGood(reply: Reply, truth: Truth, freshness: readonly Freshness[]): void {
  const { target, status, headers, body } = reply
  if (
    dataSetOf(reply) === 'latest' &&
    codesIn(target).some((code) => !(code in truth.latest.rates))
  )
    return expectUnavailable(reply)
  expectSame(status, 200, `${target}: ${body}`)
  const dataSet = dataSetOf(reply)
  expectJson(headers)
  expectSame(headers['cache-control'], CACHE_CONTROL[dataSet])
  expectSame(/^"[\w-]+"$/.test(headers['etag'] ?? ''), true, 'the tag')
  const cacheStatus = headers['cache-status'] ?? ''
  const isHonest = freshness.some((each) => CACHE_STATUS[each].test(cacheStatus))
  expectSame(isHonest, true, `${target}: ${cacheStatus} is not ${freshness.join(' or ')}`)
  const wanted = wantedBody(target, truth)
  if (body !== wanted.text) expect(JSON.parse(body), target).toEqual(wanted.body)
  const { updatedAt } = JSON.parse(wanted.text)
  const { loadedAt } = truth.latest
  if (dataSet === 'latest' && loadedAt !== undefined) {
    const modified = Date.parse(headers['last-modified'] ?? '')
    expectSame(modified <= loadedAt && modified > loadedAt - 60_000, true, 'last-modified')
    return
  }
  const wantedDate = dataSet === 'latest' ? new Date(updatedAt).toUTCString() : undefined
  expectSame(headers['last-modified'], wantedDate)
}

/** The codes that `target` asks for by name. */
function codesIn(target: string): string[] {
  const { searchParams } = new URL(target, 'http://localhost')
  return ['base', 'from', 'to', 'symbols'].flatMap(
    (name) => searchParams.get(name)?.split(',') ?? [],
  )
}

function expectJson(headers: Reply['headers']): void {
  expectSame(headers['content-type'], 'application/json; charset=utf-8')
  expectSame(headers['x-content-type-options'], 'nosniff')
}

/** Demands that `reply` has only headers of ours, and CORS headers only where they belong. */
function expectOwnHeaders({ target, headers }: Reply): void {
  const foreign = Object.keys(headers).filter((name) => !KNOWN_HEADERS.has(name))
  expectSame(foreign.join(), '', 'headers that are not ours')
  const origin = target.startsWith('/api/v1/') ? '*' : undefined
  expectSame(headers['access-control-allow-origin'], origin)
}

function ttlOf({ headers }: Reply): number {
  return Number(/ttl=(-?\d+)/.exec(headers['cache-status'] ?? '')?.[1] ?? NaN)
}

/** The bodies so far, by what they depend on. */
const computed = new Map<string, { body: object; text: string }>()

/** The body that the contract asks for, computed once for every question and all that its answer depends on. */
function wantedBody(target: string, truth: Truth): { body: object; text: string } {
  const grounds = target.includes('/history') ? [truth.days, truth.today] : truth.latest
  const key = `${target} ${JSON.stringify(grounds)}`
  const known = computed.get(key)
  if (known) return known
  const body = computeBody(target, truth)
  const wanted = { body, text: JSON.stringify(body) }
  computed.set(key, wanted)
  return wanted
}

/** The body that the contract asks for, computed without anything of `src/`. */
function computeBody(target: string, truth: Truth): object {
  const { pathname, searchParams } = new URL(target, 'http://localhost')
  const { base = 'USD', from = '', to = '', amount = '1' } = Object.fromEntries(searchParams)
  if (pathname === '/api/v1/history') return historyBody(truth, from, to)
  const { nextUpdateAt, older = {} } = truth.latest
  const timeOf = (code: string): number => older[code]?.updatedAt ?? truth.latest.updatedAt
  const table = exactRates(truth.latest.rates)
  const isVersioned = pathname.startsWith('/api/v1/')
  const { name, url } = LATEST_SOURCE
  const source = isVersioned ? { source: LATEST_SOURCE } : { provider: `${name} (${url})` }
  if (pathname.endsWith('/convert')) {
    const rate = crossRate(table, 'USD', from, to)
    const result = product(Number(amount), rate)
    const updatedAt = Math.min(timeOf(from), timeOf(to))
    return { from, to, amount: Number(amount), rate, result, updatedAt, ...source }
  }
  const asked = searchParams.get('symbols')?.split(',') ?? []
  const symbols = asked.length > 0 ? asked : Object.keys(truth.latest.rates)
  const rates = Object.fromEntries(
    symbols.map((code) => [code, crossRate(table, 'USD', base, code)]),
  )
  const times = { updatedAt: Math.min(timeOf(base), ...asked.map(timeOf)), nextUpdateAt }
  if (!isVersioned) return { base, rates, ...times, ...source }
  const olderTimes = symbols.filter((code) => code in older).map((code) => [code, timeOf(code)])
  const old = olderTimes.length > 0 ? { older: Object.fromEntries(olderTimes) } : {}
  return { base, ...times, rates, ...source, disclaimer: DISCLAIMER, ...old }
}

/** A month is what is asked for everywhere. */
function historyBody(truth: Truth, from: string, to: string): object {
  const period = '1M'
  const dates = Object.keys(truth.days)
    .filter((date) => date <= truth.today)
    .toSorted()
  const days = dates.map((date) => {
    const quoted: Truth['latest']['rates'] = { EUR: 1, ...truth.days[date] }
    return { date, rates: exactRates({ [from]: quoted[from], [to]: quoted[to] }) }
  })
  const points = inWindow(pairPoints(days, from, to), dates.at(-1) ?? '', period)
  return { from, to, period, points, stats: statsOf(points), source: HISTORY_SOURCE }
}

function exactRates(rates: Readonly<Record<string, number | undefined>>): Rates {
  return new Map(
    Object.entries(rates).flatMap(([code, rate]) =>
      rate === undefined ? [] : [[code, toExact(rate)]],
    ),
  )
}

const LAST_INSTANT = 8_640_000_000_000_000

/** Demands that the stores hold what is served and nothing else, and that no write asks for an impossible lifetime. */
function expectSoundStores(journey: Journey): void {
  const { world, variant, state, dataSet, stored, storedBefore, now } = journey
  const start = world.machine.now() - world.machine.elapsed()
  for (const { store } of world.services) {
    for (const { operation, key, at, expiresAt = NaN } of store.operations) {
      expectSame(Object.values(KEYS).includes(key), true, key)
      if (operation === 'get') continue
      const isPossible = expiresAt > start + at && expiresAt <= LAST_INSTANT
      expectSame(isPossible, true, `expiresAt: ${expiresAt}`)
    }
  }
  for (const [index, entries] of stored.entries()) {
    const untouched = storedBefore[index] ?? new Map()
    const { keeps = true } = variant
    const isKept = keeps === 'first' ? index === 0 : keeps
    if (state === 'fresh' || !isKept) {
      expectSameData([...entries], [...untouched])
      continue
    }
    for (const [about, key] of Object.entries(KEYS)) {
      const isRefused = about === dataSet && verdictIn(variant, state) === 'refused'
      if (isRefused) expectSame(entries.get(key), untouched.get(key), key)
      else expectStored(entries.get(key), key, now)
    }
  }
}

/** Demands that `text` is an envelope with exactly the data of `truth`. */
function expectStored(text: string | undefined, key: string, truth: Truth): void {
  expectSame(text?.includes(SECRET), false, `${key} in the store`)
  const { v, data, key: ownKey, savedAt } = JSON.parse(text ?? '{}')
  expectSameData([v, ownKey, typeof savedAt], [2, key, 'number'])
  if (key === KEYS.latest) {
    const { updatedAt, nextUpdateAt, rates, older } = data.table
    const { loadedAt: _loadedAt, ...latest } = truth.latest
    expectSameData({ updatedAt, nextUpdateAt, rates, ...(older && { older }) }, latest)
  } else {
    const days = data.days.map(({ date, rates }: { date: string; rates: object }) => [date, rates])
    expectSameData(Object.fromEntries(days), truth.days)
  }
}

/** What `expect(actual, about).toEqual(wanted)` does, but at once where both are the same: there are half a million. */
function expectSame(actual: unknown, wanted: unknown, about?: string): void {
  if (!Object.is(actual, wanted)) expect(actual, about).toEqual(wanted)
}

/** The same for values that JSON distinguishes. */
function expectSameData(actual: unknown, wanted: unknown, about?: string): void {
  if (JSON.stringify(actual) !== JSON.stringify(wanted)) expect(actual, about).toEqual(wanted)
}
