// oxlint-disable vitest/no-conditional-expect -- a fault says which checks apply to it
import { describe, expect, test } from 'vitest'

import { turnOfLoop, watchEscapes } from '../advisories/loaded-handler.ts'
import { STORE_FAULTS, UPSTREAM_FAULTS } from '../faults/all.ts'
import { LEGAL, SECRET, byLaw, entriesOf, rewritten } from '../faults/fault.ts'
import { toLatestTruth, withOlder } from '../faults/fault.ts'
import type { DataSet, Days, Fault, FaultCase, LatestTruth, State } from '../faults/fault.ts'
import { textOf } from '../faults/store.ts'
import type { StoredValue } from '../faults/store.ts'
import { CACHE_CONTROL, HISTORY_SOURCE, LATEST_SOURCE } from '../fixtures/contract.ts'
import { toDay } from '../fixtures/dates.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { crossRate, inWindow, pairPoints, statsOf, toExact } from '../oracle.ts'
import type { Rates } from '../oracle.ts'
import { DAY, MINUTE, SECOND } from '../virtual-runtime.ts'
import { START, createWorld } from './world.ts'
import type { TimedResponse, World } from './world.ts'

/** One form of a fault, and how to trigger it. Omitted fields are as in a healthy world. */
interface Variant extends Fault {
  begin?(world: World): void
  start?: number
  /** Provider calls per data set during the fault (default: one). */
  attempts?: Partial<Record<State, number>>
  /** Further checks after the fault. */
  afterwards?(world: World, dataSet: DataSet): Promise<void>
}

const publishedAt = (now: number): LatestTruth =>
  toLatestTruth(JSON.parse(openErApiPayload({ now })))

/** How to trigger a fault, and further expectations, by id or full name of a form. */
const MORE: Readonly<Record<string, Partial<Variant>>> = {
  'abort-ignored: a fetch that answers late with another table': { afterwards: expectDiscarded },
  'http-410: 410': { afterwards: expectEndEvent },
  'stale-upstream-same-data': {
    serves: { latest: (_body, before) => before ?? publishedAt(START) },
  },
  // A process that never had a rate for EUR returns a client error.
  'bad-major: missing': { needsPrevious: true },
  'upstream-http-cache': { serves: { latest: () => publishedAt(START - DAY) } },
  'store-readonly: READONLY, with what another process wrote before': {
    begin: (world) => fill(world),
    attempts: { cold: 0, warm: 0, expired: 0 },
  },
}

const onDay = (name: string, date: string): Variant => {
  return { name, verdict: 'accepted', start: Date.parse(`${date}T18:00:00Z`) }
}

/** Every fault, with the steps to try it. */
const cases: readonly FaultCase<Variant>[] = [
  ...[...UPSTREAM_FAULTS, ...STORE_FAULTS].map(({ forms, ...fault }) => ({
    ...fault,
    forms: forms.map((form) => {
      return { ...form, ...MORE[fault.id], ...MORE[`${fault.id}: ${form.name}`] }
    }),
  })),
  ...entriesOf<Variant>('clock', {
    'leap-day-dst': [
      onDay('a leap day', '2028-02-29'),
      onDay('a month after a leap day', '2028-03-31'),
      onDay('the Friday before summer time, and before Easter', '2027-03-26'),
      onDay('the Friday before winter time', '2026-10-23'),
      onDay('the end of a year', '2026-12-30'),
    ],
  }),
]

/** Time between the first load and the fault, in ms. */
const DELAY = { cold: 0, warm: 5 * DAY, expired: 19 * DAY, fresh: 5 * MINUTE }
const CALL_LIMIT: Record<DataSet, number> = { latest: 5 * SECOND, history: 10 * SECOND }

/** Targets that every process serves at every stage. */
const LATEST = '/api/v1/latest'
const CONVERSION = '/api/convert?from=USD&to=EUR'
const TARGETS = [LATEST, CONVERSION, '/api/v1/history?from=EUR&to=USD&period=1M']

const escaped = watchEscapes()

describe.each(cases)('$layer: $id', ({ layer, forms }) => {
  const isOfCalls = !['clock', 'store'].includes(layer)
  const states: State[] = ['cold', 'warm', 'expired', ...(isOfCalls ? [] : ['fresh' as const])]
  test.each(states)('%s', async (state) => {
    const failures: string[] = []
    for (const variant of forms) {
      if (variant.needsPrevious && state !== 'warm') continue
      for (const dataSet of variant.dataSets ?? (['latest'] as const)) {
        const note = (error: unknown): void =>
          void failures.push(`${variant.name}, ${dataSet}: ${String(error)}`)
        await travel(createWorld(variant.start), variant, dataSet, state).catch(note)
      }
    }
    expect(failures).toEqual([])
  })
})

test('no fault causes an unhandled error', async () => {
  await turnOfLoop()
  expect(escaped).toEqual([])
})

test('serves the values of the poisoned stores without the poison', async () => {
  const world = createWorld()
  fill(world)
  const truth = truthNow(world, undefined)
  for (const response of await sendAll(world)) expectGood(response, truth, FRESH)
  expect(world.upstream.calls).toEqual([])
})

test('the faults have unique ids and known forms', () => {
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  expect(cases).toHaveLength(98)
  const names = cases.flatMap(({ id, forms }) => [id, ...forms.map(({ name }) => `${id}: ${name}`)])
  expect(names).toEqual(expect.arrayContaining(Object.keys(MORE)))
})

/** Takes a handler in `state` through `variant` and its recovery, and checks what it does at every stage. */
async function travel(world: World, variant: Variant, dataSet: DataSet, state: State) {
  const { runtime, events, upstream } = world
  const advanceTo = (time: number): Promise<void> =>
    runtime.advance(Math.max(0, time - runtime.monotonic()))
  const primed = state === 'cold' ? undefined : await prime(world)
  await runtime.advance(DELAY[state])
  const before = primed && { ...primed, today: toDay(runtime.now()) }
  begin(world, variant, dataSet)
  const [attemptsBefore, callsBefore] = [world.attempts(), upstream.calls.length]
  const [beganAt, began] = [runtime.monotonic(), runtime.now()]

  const first = await sendAll(world)
  const { takes = 0, verdict, inState, attempts: expected } = variant
  await advanceTo(beganAt + (takes === 'limit' ? CALL_LIMIT[dataSet] : takes))
  await world.settle()
  const isRefused = (inState?.[state] ?? verdict) === 'refused'
  const usable = state === 'warm' ? before : undefined
  const loaded = state === 'fresh' && before ? before : truthNow(world, usable, variant.serves)
  const now = isRefused && usable ? keep(usable, dataSet, loaded) : loaded
  const isServed = usable !== undefined || state === 'fresh' || !isRefused
  const after = await sendAll(world)

  const endedAt = lastOutcome(world, dataSet) ?? runtime.monotonic()
  const isPaused = isRefused && state !== 'fresh'
  const pause = variant.pause ?? (isPaused ? SECOND : 10 * MINUTE)
  await advanceTo(endedAt + pause - 1)
  const paused = await sendAll(world)
  await world.settle()
  const attempts = since(attemptsBefore, world.attempts())

  // Every response is good, or an honest 502.
  const { nextUpdateAt, updatedAt } = now.latest
  const due = nextUpdateAt > updatedAt ? nextUpdateAt : updatedAt + DAY
  const isLate = dataSet === 'latest' && isServed && due + DAY < began
  for (const response of first) {
    if (before && state === 'fresh') expectGood(response, before, FRESH)
    else if (before && state === 'warm') expectGood(response, before, STALE)
    else if (isRefused && isAbout(response, dataSet)) expectUnavailable(response)
    else expectGood(response, now, LOADED)
  }
  for (const response of [...after, ...paused]) {
    const isStale = isAbout(response, dataSet) && ((isRefused && usable) || isLate)
    if (isRefused && !isServed && isAbout(response, dataSet)) expectUnavailable(response)
    else expectGood(response, now, isStale ? STALE : FRESH)
  }
  expectInTime(variant, usable || state === 'fresh' ? 0 : takes, first)
  expectInTime(variant, 0, [...after, ...paused])

  // The upstream is called once per backoff interval.
  const wanted = expected?.[state] ?? (state === 'fresh' ? 0 : undefined)
  const other = dataSet === 'latest' ? 'history' : 'latest'
  expect(attempts[dataSet]).toBe(wanted ?? 1)
  expect(attempts[other]).toBeLessThanOrEqual(wanted ?? 1)
  const calls = upstream.calls.slice(callsBefore).filter((each) => each === dataSet)
  expect(calls.length).toBeLessThanOrEqual(3 * attempts[dataSet])

  // Events report the fault.
  const types = events.filter(({ at }) => at >= beganAt).map(({ event }) => event.type)
  expect(types).not.toContain('internal_error')
  if (state !== 'fresh') {
    const { reported = [] } = variant
    expect(types).toEqual(expect.arrayContaining([...reported, ...(isLate ? ['rates_late'] : [])]))
    const failures = events.filter(
      ({ event }) =>
        (event.type === 'upstream_failed' || event.type === 'rates_rejected') &&
        event.dataSet === dataSet &&
        event.reason.length > 0,
    )
    expect(failures.length > 0 || !isRefused).toBe(true)
  }

  upstream.fault = undefined
  world.store.fault = undefined
  delete world.store.claim
  // After four days, all data is due again on every day of the week.
  await runtime.advance(isPaused ? pause / 2 + 2 : 4 * DAY)
  await sendAll(world)
  await world.settle()
  const recovered = await sendAll(world)
  const afterwards = truthNow(world, isServed ? now : undefined, variant.servesAfterwards)
  for (const response of recovered) expectGood(response, afterwards, LOADED)
  expect(since(attemptsBefore, world.attempts())[dataSet]).toBeGreaterThan(attempts[dataSet])
  await variant.afterwards?.(world, dataSet)
  await expectNothingLeft(world)
}

const PRIVATE = [
  SECRET,
  'er-api.com/',
  'api.frankfurter',
  'fetch failed',
  'quota-reached',
  '    at ',
]

/** Sends all requests at once; expects no private text in the responses. */
async function sendAll(world: World): Promise<TimedResponse[]> {
  const responses = await world.drive(Promise.all(TARGETS.map((target) => world.request(target))))
  for (const { headers, body } of responses) {
    const text = `${Object.entries(headers).join()} ${body}`
    expect(PRIVATE.filter((each) => text.includes(each))).toEqual([])
  }
  return responses
}

/** Loads both data sets; returns the data to serve. */
async function prime(world: World): Promise<Truth> {
  await sendAll(world)
  await world.settle()
  return truthNow(world, undefined)
}

function begin(world: World, variant: Variant, dataSet: DataSet): void {
  const { store: fault, holds } = variant
  const { store } = world
  world.upstream.fault = { ...variant, dataSet }
  store.fault = fault
  const claim = fault?.claim
  if (claim) store.claim = async (key) => (await claim(store.operationOn(key, () => true))) === true
  if (holds) fill(world, holds)
  variant.begin?.(world)
}

/** Returns `dataSet` of `current` and the other one of `loaded`. */
function keep(current: Truth, dataSet: DataSet, loaded: Truth): Truth {
  return dataSet === 'latest'
    ? { ...loaded, latest: current.latest }
    : { ...loaded, days: current.days }
}

function lastOutcome({ events }: World, dataSet: DataSet): number | undefined {
  const types = ['upstream_response', 'upstream_failed', 'rates_rejected']
  return events.findLast(
    ({ event }) => types.includes(event.type) && 'dataSet' in event && event.dataSet === dataSet,
  )?.at
}

type Attempts = Record<DataSet, number>

function since(before: Attempts, now: Attempts): Attempts {
  return { latest: now.latest - before.latest, history: now.history - before.history }
}

/** Data that may be served at one time: one publication of each data set. */
interface Truth {
  latest: LatestTruth
  days: Days
  /** Day of the request, in UTC. */
  today: string
}

/** Newest days that every refresh loads again. */
const RELOADED_DAYS = 7

/** Returns the data to serve after a load now, if `before` was served until then. */
function truthNow(
  { upstream, runtime }: World,
  before: Truth | undefined,
  serves: Fault['serves'] = {},
): Truth {
  const loadedAt = runtime.now()
  const today = toDay(loadedAt)
  const body = upstream.latest(loadedAt)
  const served = serves.latest?.(body, before?.latest) ?? toLatestTruth(body)
  const carried = before ? carriedOver(served, before.latest) : served
  const latest = carried.updatedAt > loadedAt ? { ...carried, loadedAt } : carried
  const published = Object.keys(before?.days ?? {}).toSorted()
  const start = published.at(-RELOADED_DAYS) ?? published[0] ?? ''
  const history = upstream.history(today, loadedAt)
  const requested = Object.entries(history.rates).filter(([date]) => date >= start)
  const response = { ...history, rates: Object.fromEntries(requested) }
  // Days that are absent from a reload stay.
  const days = Object.entries(serves.history?.(response) ?? response.rates)
  const merged = days.map(([date, rates]) => [date, { ...before?.days[date], ...rates }])
  return { latest, days: { ...before?.days, ...Object.fromEntries(merged) }, today }
}

/** Adds the last rates of missing codes to `published`, except for withdrawn currencies. */
function carriedOver(published: LatestTruth, before: LatestTruth): LatestTruth {
  if (published === before) return published
  const lost = Object.keys(before.rates).filter((code) => !(code in published.rates))
  const kept = lost.filter((code) => !(code in LEGAL))
  return byLaw(withOlder(published, before, kept))
}

/** Stores valid envelopes, after `change`, with data published one minute ago. */
function fill(world: World, change: (good: StoredValue) => unknown = (good) => good): void {
  const { upstream, runtime, store } = world
  const savedAt = runtime.now() - MINUTE
  const table = { ...toLatestTruth(upstream.latest(savedAt)), base: 'USD' }
  const { rates } = upstream.history(toDay(savedAt), savedAt)
  const days = Object.entries(rates).map(([date, day]) => ({ date, rates: day }))
  for (const [key, data] of Object.entries({
    'rates:v1:latest': { attribution: LATEST_SOURCE, table },
    'rates:v1:history': { attribution: HISTORY_SOURCE, start: '2021-01-01', base: 'EUR', days },
  })) {
    store.entries.set(key, textOf(change({ v: 2, key, savedAt, data })))
  }
}

const isAbout = ({ target }: TimedResponse, dataSet: DataSet): boolean =>
  target.includes('/history') === (dataSet === 'history')

const UNAVAILABLE = 'The exchange-rate provider is unavailable. Please retry shortly.'
const DISCLAIMER =
  'Mid-market reference rates for information only, not an offer to exchange currency.'
const JSON_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
}

/** Values of Cache-Status. */
const FRESH = /^rates; hit; ttl=\d+$/
const STALE = /^rates; hit; ttl=-[1-9]\d*; detail=stale$/
const LOADED = /^rates; (fwd=miss|hit; ttl=\d+)$/

function expectUnavailable({ target, status, headers, body }: TimedResponse): void {
  const isVersioned = target.startsWith('/api/v1/')
  const error = isVersioned ? { code: 'provider_unavailable', message: UNAVAILABLE } : UNAVAILABLE
  expect({ status, body }).toEqual({ status: 502, body: JSON.stringify({ error }) })
  expect(headers).toMatchObject({ ...JSON_HEADERS, 'cache-control': 'no-store' })
  expect(headers).not.toHaveProperty('etag')
  expect(headers['retry-after']).toMatch(/^([1-9]\d?|[12]\d\d|300)$/)
}

/** Expects a 200 with exactly the data of `truth`, or the documented 502 if `truth` lacks a required rate. */
function expectGood(response: TimedResponse, truth: Truth, cacheStatus: RegExp): void {
  const { target, status, headers, body } = response
  if (target === CONVERSION && !('EUR' in truth.latest.rates)) return expectUnavailable(response)
  expect(status, `${target}: ${body}`).toBe(200)
  const dataSet = isAbout(response, 'history') ? 'history' : 'latest'
  expect(headers).toMatchObject({ ...JSON_HEADERS, 'cache-control': CACHE_CONTROL[dataSet] })
  expect(headers['etag']).toMatch(/^"[\w-]+"$/)
  expect(headers['cache-status'], target).toMatch(cacheStatus)
  const wanted = wantedBody(target, truth)
  if (body !== wanted) expect(JSON.parse(body), target).toEqual(JSON.parse(wanted))
  const { updatedAt } = JSON.parse(wanted)
  // A publication that is dated ahead was modified when it was loaded.
  const modified = truth.latest.loadedAt ?? updatedAt
  const date = dataSet === 'latest' ? new Date(modified).toUTCString() : undefined
  if (truth.latest.loadedAt === undefined) expect(headers['last-modified']).toBe(date)
  else expect(Date.parse(headers['last-modified'] ?? '') <= modified).toBe(dataSet === 'latest')
}

const computed = new Map<string, string>()

/** Returns the body that the contract requires, computed once per target and data. */
function wantedBody(target: string, truth: Truth): string {
  const isHistory = target.includes('/history')
  const key = `${target} ${JSON.stringify(isHistory ? [truth.days, truth.today] : truth.latest)}`
  const wanted = computed.get(key) ?? JSON.stringify(computeBody(target, truth))
  computed.set(key, wanted)
  return wanted
}

/** Computes the body that the contract requires, without code of `src/`. */
function computeBody(target: string, { latest, days, today }: Truth): object {
  if (target.includes('/history')) return historyBody(days, today)
  const { nextUpdateAt, updatedAt, older = {} } = latest
  const table = exactRates(latest.rates)
  if (target === CONVERSION) {
    const rate = crossRate(table, 'USD', 'USD', 'EUR')
    const times = ['USD', 'EUR'].map((code) => older[code]?.updatedAt ?? updatedAt)
    const provider = `${LATEST_SOURCE.name} (${LATEST_SOURCE.url})`
    const pair = { from: 'USD', to: 'EUR', amount: 1, rate, result: rate }
    return { ...pair, updatedAt: Math.min(...times), provider }
  }
  const codes = Object.keys(latest.rates)
  const rates = Object.fromEntries(
    codes.map((code) => [code, crossRate(table, 'USD', 'USD', code)]),
  )
  const times = Object.entries(older).map(([code, each]) => [code, each.updatedAt])
  const old = times.length > 0 ? { older: Object.fromEntries(times) } : {}
  const body = { base: 'USD', updatedAt: older['USD']?.updatedAt ?? updatedAt, nextUpdateAt, rates }
  return { ...body, source: LATEST_SOURCE, disclaimer: DISCLAIMER, ...old }
}

function historyBody(days: Days, today: string): object {
  const dates = Object.keys(days).filter((date) => date <= today)
  const quoted = dates.toSorted().map((date) => {
    return { date, rates: exactRates({ EUR: 1, USD: days[date]?.['USD'] }) }
  })
  const pair = { from: 'EUR', to: 'USD', period: '1M' } as const
  const all = pairPoints(quoted, 'EUR', 'USD')
  const points = inWindow(all, quoted.at(-1)?.date ?? '', pair.period)
  return { ...pair, points, stats: statsOf(points), source: HISTORY_SOURCE }
}

function exactRates(rates: Readonly<Record<string, number | undefined>>): Rates {
  const known = Object.entries(rates).filter(([, rate]) => rate !== undefined)
  return new Map(known.map(([code, rate]) => [code, toExact(rate ?? NaN)]))
}

/** Expects that no response waited longer than the call, 5 s, and two operations of a store. */
function expectInTime({ store }: Variant, takes: number | 'limit', responses: TimedResponse[]) {
  const limit = Math.min(takes === 'limit' ? Infinity : takes, 5_000)
  const waits = responses.map(({ waited }) => waited)
  expect(Math.max(...waits)).toBeLessThanOrEqual(limit + (store ? 100 : 0))
}

/** Closes the handler; expects no remaining timers. */
async function expectNothingLeft({ runtime, handler }: World): Promise<void> {
  // A late response of an upstream may take 20 s.
  await runtime.advance(30 * SECOND)
  expect(runtime.timers(), 'timers of an idle handler').toBe(0)
  handler.close()
  await runtime.advance(60_000)
  expect(runtime.timers(), 'timers of a closed handler').toBe(0)
}

async function expectDiscarded(world: World): Promise<void> {
  await world.runtime.advance(30 * SECOND)
  const truth = truthNow(world, undefined)
  for (const response of await sendAll(world)) expectGood(response, truth, FRESH)
}

/** Expects an event for the announced end of the feed while it still works. */
async function expectEndEvent(world: World, dataSet: DataSet): Promise<void> {
  if (dataSet !== 'latest') return
  const endsAt = world.runtime.now() + 60 * DAY
  const ending = `"time_eol_unix":${endsAt / SECOND}`
  const inject = rewritten((good) => good.replace('"time_eol_unix":0', ending))
  world.upstream.fault = { dataSet, inject }
  await world.runtime.advance(4 * DAY)
  await sendAll(world)
  await world.settle()
  const events = world.events.map(({ event }) => event)
  expect(events).toContainEqual(expect.objectContaining({ type: 'upstream_ending', endsAt }))
}
