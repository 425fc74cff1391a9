import { expect } from 'vitest'

import { SECRET } from '../faults/fault.ts'
import type { DataSet } from '../faults/fault.ts'
import { CACHE_CONTROL, HISTORY_SOURCE, LATEST_SOURCE } from '../fixtures/contract.ts'
import { crossRate, inWindow, pairPoints, product, statsOf, toExact } from '../oracle.ts'
import type { Rates } from '../oracle.ts'
import { DAY } from '../virtual-runtime.ts'
import { verdictIn } from './journey.ts'
import type { Journey, Truth } from './journey.ts'
import type { TimedResponse } from './world.ts'

const BUDGET = 5_000

/** Maximum time of a store operation, in ms. */
const STORE_LIMIT = 50

const MAX_CALLS_PER_ATTEMPT = 3

const PRIVATE = [
  SECRET,
  'er-api.com/',
  'api.frankfurter',
  'fetch failed',
  'quota-reached',
  '    at ',
]

/** Checks for every fault in every state, by name. */
export const CHECKS: Readonly<Record<string, (journey: Journey) => void>> = {
  'the first responses are as documented'(journey) {
    const { state, first, now, before } = journey
    for (const response of distinct(first)) {
      if (before && state === 'fresh') expectGood(response, before, ['fresh'])
      else if (before && state === 'warm') expectGood(response, before, ['stale'])
      else if (isRefused(journey, response)) expectUnavailable(response)
      else expectGood(response, now, ['loaded', 'fresh'])
    }
  },

  'later responses are as documented'(journey) {
    const { isServed, now, after, paused, state, variant, dataSet } = journey
    const isKept = isServed && state === 'warm' && verdictIn(variant, state) === 'refused'
    for (const response of distinct([...after, ...paused])) {
      const isAbout = dataSetOf(response) === dataSet
      const isStale = isAbout && (isKept || isLate(journey))
      const wanted: readonly Freshness[] = isStale ? ['stale'] : ['fresh']
      if (isRefused(journey, response) && !isServed) expectUnavailable(response)
      else expectGood(response, now, wanted)
    }
  },

  'no request waits too long'({ state, variant, first, after, paused }) {
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

  'the upstream is called once per backoff interval'(journey) {
    const { state, variant, dataSet, attempts, world } = journey
    const wanted = variant.attempts?.[state] ?? (state === 'fresh' ? 0 : undefined)
    if (wanted !== undefined) expect(attempts[dataSet]).toBe(wanted)
    else expect(attempts[dataSet]).toBeGreaterThanOrEqual(1)
    expect(attempts.latest).toBeLessThanOrEqual(wanted ?? 1)
    expect(attempts.history).toBeLessThanOrEqual(wanted ?? 1)
    const calls = world.upstream.calls.filter((call) => call.dataSet === dataSet)
    expect(calls.length).toBeLessThanOrEqual(MAX_CALLS_PER_ATTEMPT * world.attempts()[dataSet])
  },

  'responses contain no private text'({ first, after, paused, recovered }) {
    for (const response of distinct([...first, ...after, ...paused, ...recovered])) {
      const content = toText(response)
      expectSame(PRIVATE.filter((text) => content.includes(text)).join(), '', content)
    }
  },

  'events report the fault'(journey) {
    const { world, state, variant, dataSet, beganAt } = journey
    const { events } = world
    const types = events.filter(({ at }) => at >= beganAt).map(({ event }) => event.type)
    expect(types).not.toContain('internal_error')
    if (state === 'fresh') return
    expect(types).toEqual(expect.arrayContaining([...(variant.reported ?? [])]))
    if (isLate(journey)) expect(types).toContain('rates_late')
    if (verdictIn(variant, state) === 'accepted') return
    const failures = events.filter(
      ({ event }) =>
        (event.type === 'upstream_failed' || event.type === 'rates_rejected') &&
        event.dataSet === dataSet &&
        event.reason.length > 0,
    )
    expect(failures).not.toEqual([])
  },

  'fresh data is served after the fault'({ recovered, afterwards, dataSet, ...journey }) {
    for (const response of distinct(recovered))
      expectGood(response, afterwards, ['fresh', 'loaded'])
    expect(journey.attemptsAfterwards[dataSet]).toBeGreaterThan(journey.attempts[dataSet])
  },
}

/** Closes the handler; expects no remaining timers and listeners. */
export async function expectNothingLeft({ world }: Journey): Promise<void> {
  const { machine, process, handler } = world
  // A store write may take a second.
  await machine.advance(2_000)
  expect(process.timers(), 'timers of an idle handler').toBe(0)
  handler.close()
  await machine.advance(60_000)
  expect(process.timers(), 'timers of a closed handler').toBe(0)
}

function distinct(responses: readonly TimedResponse[]): TimedResponse[] {
  return [...new Map(responses.map((each) => [toText(each), each])).values()]
}

function toText({ target, status, headers, body }: TimedResponse): string {
  return `${target} ${status} ${Object.entries(headers).join()} ${body}`
}

/** Whether latest rates are served, and a day has passed since the next ones were due. */
function isLate({ world: { machine }, beganAt, dataSet, isServed, now }: Journey): boolean {
  const began = machine.now() - machine.elapsed() + beganAt
  const { updatedAt, nextUpdateAt } = now.latest
  const due = nextUpdateAt > updatedAt ? nextUpdateAt : updatedAt + DAY
  return dataSet === 'latest' && isServed && due + DAY < began
}

function isRefused({ variant, state, dataSet }: Journey, response: TimedResponse): boolean {
  return dataSetOf(response) === dataSet && verdictIn(variant, state) === 'refused'
}

function dataSetOf({ target }: TimedResponse): DataSet {
  return target.includes('/history') ? 'history' : 'latest'
}

const UNAVAILABLE = 'The exchange-rate provider is unavailable. Please retry shortly.'

const DISCLAIMER =
  'Mid-market reference rates for information only, not an offer to exchange currency.'

/** Freshness according to Cache-Status. */
export type Freshness = 'fresh' | 'stale' | 'loaded'

const CACHE_STATUS: Record<Freshness, RegExp> = {
  fresh: /^rates; hit; ttl=\d+$/,
  stale: /^rates; hit; ttl=-[1-9]\d*; detail=stale$/,
  loaded: /^rates; fwd=miss$/,
}

function expectUnavailable({ target, status, headers, body }: TimedResponse): void {
  const isVersioned = target.startsWith('/api/v1/')
  expectSame(status, 502, body)
  const error = isVersioned ? { code: 'provider_unavailable', message: UNAVAILABLE } : UNAVAILABLE
  expectSame(body, JSON.stringify({ error }))
  expectJson(headers)
  expectSame(headers['cache-control'], 'no-store')
  expectSame(headers['etag'], undefined)
  const retryAfter = headers['retry-after'] ?? ''
  expectSame(/^([1-9]\d?|[12]\d\d|300)$/.test(retryAfter), true, `retry-after: ${retryAfter}`)
}

/** Expects a 200 with exactly the data of `truth`, or the documented 502 if `truth` lacks a required rate. */
export function expectGood(
  response: TimedResponse,
  truth: Truth,
  freshness: readonly Freshness[],
): void {
  const { target, status, headers, body } = response
  if (
    dataSetOf(response) === 'latest' &&
    codesIn(target).some((code) => !(code in truth.latest.rates))
  )
    return expectUnavailable(response)
  expectSame(status, 200, `${target}: ${body}`)
  const dataSet = dataSetOf(response)
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

function codesIn(target: string): string[] {
  const { searchParams } = new URL(target, 'http://localhost')
  return ['base', 'from', 'to', 'symbols'].flatMap(
    (name) => searchParams.get(name)?.split(',') ?? [],
  )
}

function expectJson(headers: TimedResponse['headers']): void {
  expectSame(headers['content-type'], 'application/json; charset=utf-8')
  expectSame(headers['x-content-type-options'], 'nosniff')
}

const computed = new Map<string, { body: object; text: string }>()

/** Returns the body that the contract requires, computed once per target and data. */
function wantedBody(target: string, truth: Truth): { body: object; text: string } {
  const inputs = target.includes('/history') ? [truth.days, truth.today] : truth.latest
  const key = `${target} ${JSON.stringify(inputs)}`
  const cached = computed.get(key)
  if (cached) return cached
  const body = computeBody(target, truth)
  const wanted = { body, text: JSON.stringify(body) }
  computed.set(key, wanted)
  return wanted
}

/** Computes the body that the contract requires, without code of `src/`. */
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
  const requested = searchParams.get('symbols')?.split(',') ?? []
  const symbols = requested.length > 0 ? requested : Object.keys(truth.latest.rates)
  const rates = Object.fromEntries(
    symbols.map((code) => [code, crossRate(table, 'USD', base, code)]),
  )
  const times = { updatedAt: Math.min(timeOf(base), ...requested.map(timeOf)), nextUpdateAt }
  if (!isVersioned) return { base, rates, ...times, ...source }
  const olderTimes = symbols.filter((code) => code in older).map((code) => [code, timeOf(code)])
  const old = olderTimes.length > 0 ? { older: Object.fromEntries(olderTimes) } : {}
  return { base, ...times, rates, ...source, disclaimer: DISCLAIMER, ...old }
}

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

/** Like `expect(actual, about).toEqual(wanted)`, but fast if both are identical: there are 500,000 comparisons. */
function expectSame(actual: unknown, wanted: unknown, about?: string): void {
  if (!Object.is(actual, wanted)) expect(actual, about).toEqual(wanted)
}
