// oxlint-disable vitest/no-standalone-expect -- upstream-faults.test.ts calls the expectations
import { expect } from 'vitest'

import { STORE_FAULTS, UPSTREAM_FAULTS } from '../faults/all.ts'
import { changedJson, entriesOf, rewritten, toLatestTruth, withOlder } from '../faults/fault.ts'
import type { FaultCase, State } from '../faults/fault.ts'
import { NEWCOMER, thousandfoldBaht } from '../faults/latest.ts'
import { lastPoured } from '../faults/transport.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { DAY, MINUTE, SECOND } from '../virtual-runtime.ts'
import { expectGood, expectRefusal } from './checks.ts'
import { TARGETS, fill, send, sendAll, sendOne, truthNow } from './journey.ts'
import type { Meeting, Variant } from './journey.ts'
import { START, createWorld } from './world.ts'
import type { TimedResponse, World } from './world.ts'

const MEGABYTE = 1024 * 1024

/** Limits of upstream bodies; at most one more chunk is read. */
const CAP = { latest: MEGABYTE, history: 4 * MEGABYTE }
const CHUNK = 64 * 1024

/** Thursday in winter, 15:59 in Frankfurt. */
const BEFORE_PUBLICATION = Date.parse('2026-11-19T14:59:00Z')

/** The circuit breaker of a store opens for 5 s after 5 consecutive failures. */
const FAILURES = 5
const OPEN_TIME = 5 * SECOND

/** How to trigger a fault, and further expectations, by id or full name of a form. */
const MORE: Readonly<Record<string, Partial<Variant>>> = {
  'dns-slow': { meanwhile: expectAborted },
  'conn-timeout': { meanwhile: expectAborted },
  'hang-after-headers: even after the call is aborted': { meanwhile: expectCancelled },
  'abort-ignored: a fetch that answers late with another table': { afterwards: expectDiscarded },
  'http-410: 410': { afterwards: expectEndEvent },
  'body-100mb': { meanwhile: expectBounded },
  'body-gzip-bomb': { meanwhile: expectBounded },
  'currency-left-feed: BGN is gone': { meanwhile: expectGone },
  'currency-joins-feed': { meanwhile: expectServed },
  'one-rate-1000x': { meanwhile: expectQuarantined, afterwards: expectContradicted },
  'stale-upstream-same-data': {
    serves: { latest: (_body, before) => before ?? publishedAt(START) },
  },
  // A process that never had a rate for EUR returns a client error.
  'bad-major: missing': { needsPrevious: true },
  'upstream-http-cache': { serves: { latest: () => publishedAt(START - DAY) } },
  'history-spike': { meanwhile: expectSpikeIsQuarantined },
  'history-16cet-race': {
    world: { start: BEFORE_PUBLICATION },
    arrive: ({ machine }, state) =>
      machine.advance({ cold: 0, warm: 40 * MINUTE, expired: 19 * DAY, fresh: 30 * SECOND }[state]),
    act: requestBetween,
  },
  'store-slow': { meanwhile: expectCircuitBreaker },
  'store-newer-version': { meanwhile: expectOneWrite },
  'store-readonly: READONLY, with what another process wrote before': {
    begin: (world) => fill(world),
    attempts: { cold: 0, warm: 0, expired: 0 },
  },
}

const clock = entriesOf<Variant>('clock', {
  'leap-day-dst': [
    onDay('a leap day', '2028-02-29'),
    onDay('a month after a leap day', '2028-03-31'),
    onDay('the Friday before summer time, and before Easter', '2027-03-26'),
    onDay('the Friday before winter time', '2026-10-23'),
    onDay('the end of a year', '2026-12-30'),
  ],
})

/** Every entry of the catalogue, with the steps to try it. */
export const cases: readonly FaultCase<Variant>[] = [
  ...[...UPSTREAM_FAULTS, ...STORE_FAULTS].map((fault) => ({
    ...fault,
    forms: fault.forms.map((form) => ({
      ...form,
      ...(form.name.includes('as many codes') && { meanwhile: expectLastRate }),
      ...MORE[fault.id],
      ...MORE[`${fault.id}: ${form.name}`],
    })),
  })),
  ...clock,
]

export function unusedNames(): string[] {
  const names = cases.flatMap(({ id, forms }) => [id, ...forms.map(({ name }) => `${id}: ${name}`)])
  return Object.keys(MORE).filter((name) => !names.includes(name))
}

function publishedAt(now: number) {
  return toLatestTruth(JSON.parse(openErApiPayload({ now })))
}

function expectAborted({ world, state }: Meeting): void {
  const aborted = world.upstream.calls.filter(({ init }) => init.signal?.aborted)
  expect(aborted).toHaveLength(state === 'fresh' ? 0 : 1)
}

function expectCancelled({ state }: Meeting): void {
  if (state !== 'fresh') expect(lastPoured).toMatchObject({ isCancelled: true })
}

async function expectDiscarded({ world }: Meeting): Promise<void> {
  await world.machine.advance(30 * SECOND)
  const responses = await sendAll(world)
  for (const response of responses) expectGood(response, truthNow(world, undefined), ['fresh'])
}

/** Expects an event for the announced end of the feed while it still works. */
async function expectEndEvent({ world, dataSet }: Meeting): Promise<void> {
  if (dataSet !== 'latest') return
  const endsAt = world.machine.now() + 60 * DAY
  const inject = rewritten((good) =>
    good.replace('"time_eol_unix":0', `"time_eol_unix":${endsAt / SECOND}`),
  )
  world.upstream.fault = { dataSet, inject }
  await world.machine.advance(4 * DAY)
  await sendAll(world)
  await world.settle()
  expectEvent(world, { type: 'upstream_ending', endsAt })
}

/** Expects that an oversized body is not read to its end. */
function expectBounded({ state, dataSet }: Meeting): void {
  if (state === 'fresh') return
  expect(lastPoured?.isCancelled).toBe(true)
  expect(lastPoured?.pulled).toBeLessThanOrEqual(CAP[dataSet] + CHUNK)
}

/** Expects the previous rate instead of a dropped one, and a 502 without one. */
async function expectLastRate({ world, state, before }: Meeting): Promise<void> {
  if (state === 'fresh') return
  for (const target of ['/api/v1/convert?from=AED&to=EUR', '/api/convert?from=AED&to=EUR']) {
    const { status, body } = await sendOne(world, target)
    expect(status, target).toBe(state === 'warm' ? 200 : 502)
    if (state === 'warm') expect(JSON.parse(body).updatedAt).toBe(before?.latest.updatedAt)
  }
  const { body } = await sendOne(world, '/api/rates')
  expect(JSON.parse(body).rates['AED']).toBe(
    state === 'warm' ? before?.latest.rates['AED'] : undefined,
  )
}

/** Expects an error with the code of a removed currency, but not if it is only in `symbols`. */
async function expectGone({ world, state, now }: Meeting): Promise<void> {
  if (state === 'fresh') return
  const code = 'BGN'
  const responses = await send(world, [
    `/api/v1/latest?base=${code}`,
    `/api/v1/convert?from=${code}&to=EUR`,
    `/api/rates?base=${code}`,
    `/api/convert?from=EUR&to=${code}`,
  ])
  for (const response of responses) expectRefusal(response, 400, code)
  const { status, body } = await sendOne(world, `/api/v1/latest?symbols=EUR,${code}`)
  expect(status).toBe(200)
  expect(JSON.parse(body).rates).toEqual({ EUR: now?.latest.rates['EUR'] })
}

async function expectServed({ world, state }: Meeting): Promise<void> {
  if (state === 'fresh') return
  const { body } = await sendOne(world, `/api/v1/convert?from=USD&to=${NEWCOMER}&amount=2`)
  expect(JSON.parse(body)).toMatchObject({ rate: 12.5, result: 25 })
}

function expectQuarantined({ world, state }: Meeting): void {
  const events = world.events.map(({ event }) => event)
  const reported = events.filter(({ type }) => type === 'rates_quarantined')
  expect(reported).toHaveLength(state === 'warm' ? 1 : 0)
  if (state === 'warm') expect(reported[0]).toMatchObject({ dataSet: 'latest', codes: ['THB'] })
}

/** Expects that the next publication does not confirm a change that the reference rates contradict. */
async function expectContradicted({ world, state }: Meeting): Promise<void> {
  if (state !== 'warm') return
  const inject = changedJson(thousandfoldBaht)
  const before = truthNow(world, undefined).latest
  for (let publication = 1; publication <= 2; publication += 1) {
    world.upstream.fault = { dataSet: 'latest', inject }
    await world.machine.advance(DAY)
    await sendAll(world)
    await world.settle()
    const wanted = toLatestTruth(thousandfoldBaht(world.upstream.latest(world.machine.now())))
    const table = await sendOne(world, '/api/rates')
    const latest = withOlder(wanted, before, ['THB'])
    expectGood(table, { latest, days: {}, today: '' }, ['fresh'])
  }
}

/** Expects one event for the spike, however often it is loaded. */
function expectSpikeIsQuarantined({ world, state, now }: Meeting): void {
  if (state === 'fresh') return
  const day = Object.keys(now?.days ?? {})
    .toSorted()
    .at(-2)
  const events = world.events.map(({ event }) => event)
  const reported = events.filter(({ type }) => type === 'rates_quarantined')
  expect(reported).toMatchObject([{ dataSet: 'history', codes: [`${day} USD`] }])
}

function expectEvent({ events }: World, wanted: object): void {
  expect(events.map(({ event }) => event)).toContainEqual(expect.objectContaining(wanted))
}

/** Sends all requests, and requests history again while the relay is responding. */
async function requestBetween({ machine, request }: World, state: State): Promise<TimedResponse[]> {
  const askFor = (targets: readonly string[]): Promise<TimedResponse[]> =>
    Promise.all(targets.map((target) => request(target)))
  const history = TARGETS.filter((target) => target.includes('/history'))
  const again = new Promise<TimedResponse[]>((resolve) => {
    machine.after(SECOND, () => resolve(askFor(history)))
  })
  const responses = await machine.drive(Promise.all([askFor(TARGETS), again]), 10 * SECOND)
  expect(new Set(responses.flat().map(({ waited }) => waited))).toEqual(
    new Set(state === 'cold' || state === 'expired' ? [0, 2 * SECOND, SECOND] : [0]),
  )
  return responses.flat()
}

/** Expects a circuit breaker for a store that always times out, while the upstream is down too. */
async function expectCircuitBreaker({ state, variant }: Meeting): Promise<void> {
  if (state !== 'cold') return
  const world = createWorld()
  const { machine, store, handler } = world
  store.fault = variant.store
  world.upstream.fault = { dataSet: 'latest', inject: () => new Response(null, { status: 503 }) }
  for (let halves = 0; halves < 80; halves += 1) {
    expect((await sendOne(world, '/api/rates')).status).toBe(502)
    await machine.advance(SECOND / 2)
  }
  const times = store.operations.map(({ at }) => at)
  expect(times.length).toBeGreaterThan(FAILURES)
  const gaps = times.slice(FAILURES).map((at, index) => at - (times[FAILURES - 1 + index] ?? NaN))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(OPEN_TIME)
  handler.close()
}

async function expectOneWrite({ world, state }: Meeting): Promise<void> {
  await send(world, ['/api/rates', '/api/v1/history?from=EUR&to=USD'])
  await world.settle()
  const { operations, entries } = world.store
  const writes = operations.filter(({ operation }) => operation === 'set')
  const before: Record<State, number> = { cold: 0, warm: 2, expired: 2, fresh: 2 }
  expect(writes.length - before[state]).toBe(state === 'fresh' ? 0 : 2)
  expect(entries.size).toBe(2)
}

function onDay(name: string, date: string): Variant {
  return { name, verdict: 'accepted', world: { start: Date.parse(`${date}T18:00:00Z`) } }
}
