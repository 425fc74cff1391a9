// oxlint-disable vitest/no-standalone-expect -- what is expected of a case is tried by upstream-faults.test.ts
import { expect } from 'vitest'

import { STORE_FAULTS, UPSTREAM_FAULTS } from '../faults/all.ts'
import {
  SECRET,
  after,
  changedJson,
  entriesOf,
  later,
  rewritten,
  toLatestTruth,
  wireError,
  withOlder,
} from '../faults/fault.ts'
import type { FaultCase, Inject, State } from '../faults/fault.ts'
import { NEWCOMER, thousandfoldBaht } from '../faults/latest.ts'
import { lastPoured } from '../faults/transport.ts'
import { codes } from '../fixtures/codes.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../virtual-runtime.ts'
import { expectGood, expectRefusal } from './checks.ts'
import { TARGETS, ask, askAll, askOne, fill, truthNow } from './journey.ts'
import type { Meeting, Variant } from './journey.ts'
import { START, createWorld } from './world.ts'
import type { Reply, World } from './world.ts'

const MEGABYTE = 1024 * 1024

/** More bytes than this are not read, and not more than a chunk beyond. */
const CAP = { latest: MEGABYTE, history: 4 * MEGABYTE }
const CHUNK = 64 * 1024

/** A Thursday evening: both data sets are due again within a day. */
const THURSDAY = START - DAY

/** 15:59 in Frankfurt on a Thursday in winter. */
const BEFORE_PUBLICATION = Date.parse('2026-11-19T14:59:00Z')

/** After this number of failures in a row a store is not used for this long. */
const FAILURES = 5
const REST = 5 * SECOND

const inClock = entriesOf<Variant>('clock')
const inLifecycle = entriesOf<Variant>('lifecycle')

/** What is to be done to meet a fault and what else is expected of it, by its id or the whole name of a form. */
const MORE: Readonly<Record<string, Partial<Variant>>> = {
  'dns-slow': { meanwhile: expectAborted },
  'conn-timeout': { meanwhile: expectAborted },
  'hang-after-headers: even after the call is aborted': { meanwhile: expectCancelled },
  'abort-ignored: a fetch that answers late with another table': { afterwards: expectDiscarded },
  'http-410: 410': { afterwards: expectEndIsTold },
  'body-proto-key': { meanwhile: expectNoPollution },
  'body-constructor-key': { meanwhile: expectNoPollution },
  'body-100mb': { meanwhile: expectBounded },
  'body-gzip-bomb': { meanwhile: expectBounded },
  'currency-left-feed: BGN is gone': { meanwhile: expectGone },
  'currency-joins-feed': { meanwhile: expectServed },
  'one-rate-1000x': { meanwhile: expectHeldBack, afterwards: expectConfirmed },
  'stale-upstream-same-data': {
    serves: { latest: (_body, before) => before ?? publishedAt(START) },
  },
  'retired-currency-garbage': { meanwhile: expectNoHistoryOfLev },
  // A process that has never had a rate of the euro takes it for a client's mistake.
  'bad-major: missing': { needsPrevious: true },
  'upstream-http-cache': { serves: { latest: () => publishedAt(START - DAY) } },
  'history-spike': { meanwhile: expectSpikeIsHeldBack },
  'history-left-feed': { act: askForThoseWhoLeft },
  'history-16cet-race': {
    world: { start: BEFORE_PUBLICATION },
    arrive: ({ machine }, state) =>
      machine.advance({ cold: 0, warm: 40 * MINUTE, expired: 19 * DAY, fresh: 30 * SECOND }[state]),
    act: askBetween,
  },
  'history-rebased-rounding': { meanwhile: expectFineSteps },
  'store-slow': { meanwhile: expectRest },
  'store-newer-version': { meanwhile: expectOneWrite },
  'store-readonly: READONLY, with what another process wrote before': {
    begin: (world) => fill(world),
    attempts: { cold: 0, warm: 0, expired: 0 },
  },
  'store-partition': {
    world: { processes: [{}, { isApart: true }] },
    begin({ services }) {
      const rejects = (): Promise<never> => Promise.reject(new Error(`it is closed ${SECRET}`))
      for (const { store } of services.slice(1)) store.fault = { get: rejects, set: rejects }
    },
  },
  'memory-store-flood': { act: flood },
}

const clock: readonly FaultCase<Variant>[] = [
  inClock('clock-jump-forward', 'the clock jumps ahead', [
    jumping('by a day', async (world, state) => {
      await world.machine.advance(5 * MINUTE)
      // A jump of a day makes data overdue; what is fresh must stay so over a shorter one, and a longer one expires.
      setClocks(world, { cold: DAY, warm: DAY, expired: 19 * DAY, fresh: HOUR }[state])
    }),
  ]),
  inClock('clock-jump-back', 'the clock is set back by a day', [
    jumping('just after the first load', async (world, state) => {
      setClocks(world, -DAY)
      // A day later the clock shows the time of the first load; the data must not have stayed young.
      const later = { cold: 0, warm: 23 * HOUR, expired: 20 * DAY, fresh: 5 * MINUTE }
      await world.machine.advance(later[state])
    }),
  ]),
  inClock('clock-skew-fleet', 'the clocks of two processes differ by ten minutes', [
    apart('the second one is ahead', 10 * MINUTE),
    apart('the second one is behind', -10 * MINUTE),
  ]),
  inClock('leap-day-dst', 'a leap day, a change to or from summer time, the end of a year', [
    onDay('a leap day', '2028-02-29'),
    onDay('a month after a leap day', '2028-03-31'),
    onDay('the Friday before summer time, and before Easter', '2027-03-26'),
    onDay('the Friday before winter time', '2026-10-23'),
    onDay('the end of a year', '2026-12-30'),
  ]),
]

const given: { isDone: boolean }[] = []

/** A host that takes the work, and what is expected of it. */
const GIVING_HOST: Partial<Variant> = {
  world: { waitUntil: give },
  begin: () => given.splice(0),
  meanwhile: expectWorkDone,
}

const lifecycle: readonly FaultCase<Variant>[] = [
  inLifecycle('abort-first-caller', 'many wait, and the first one leaves', [
    slow('after half the time', { act: leaveFirst }),
  ]),
  inLifecycle(
    'abort-all-callers',
    'many wait, and all of them leave',
    [slow('after half the time', { act: leaveAll })],
    {
      instead: {
        cold: 'Nobody is left to read an answer; the load goes on, and the next caller finds its data.',
        warm: 'Nobody has to wait, so nobody can leave; the refresh goes on.',
      },
    },
  ),
  inLifecycle(
    'abort-before-start',
    'a request comes that nobody waits for any more',
    // The first client that does wait has to.
    [{ name: 'alone', verdict: 'accepted', act: askAborted, freshness: ['fresh', 'loaded'] }],
    { instead: { cold: 'Nobody reads the answer; upstream is not asked for it.' } },
  ),
  inLifecycle('waituntil-missing', 'the host freezes the process after an answer', [
    {
      name: 'for an hour, without a way to say that there is work',
      verdict: 'accepted',
      inState: { warm: 'refused' },
      begin(world, state) {
        // The connection does not survive it.
        const inject: Inject = () => new Promise(() => {})
        if (state === 'warm') world.upstream.fault = { dataSet: 'latest', inject }
      },
      takes: HOUR,
      act: askAndFreeze,
    },
    slow('unless it is given the work', { ...GIVING_HOST, act: askAndWatch }),
  ]),
  inLifecycle(
    'refresh-rejects-unhandled',
    'a background refresh fails',
    [
      rejecting('with nobody to hear of it', {}),
      rejecting('with a host that waits for it', GIVING_HOST),
    ],
    {
      instead: { cold: 'No answer has gone before; the load fails when all who waited have left.' },
    },
  ),
  inLifecycle('thundering-herd-expiry', 'ten thousand ask at the same moment', [
    slow('all at once', { act: askTenThousand }),
  ]),
]

/** Every entry of the catalogue, with all that it takes to try it. */
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
  ...lifecycle,
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
  const replies = await askAll(world)
  for (const reply of replies) expectGood(reply, truthNow(world, undefined), ['fresh'])
}

/** Demands that the operator hears of the end of the feed while it still answers. */
async function expectEndIsTold({ world, dataSet }: Meeting): Promise<void> {
  if (dataSet !== 'latest') return
  const endsAt = world.machine.now() + 60 * DAY
  const inject = rewritten((good) =>
    good.replace('"time_eol_unix":0', `"time_eol_unix":${endsAt / SECOND}`),
  )
  world.upstream.fault = { dataSet, inject }
  await world.machine.advance(4 * DAY)
  await askAll(world)
  await world.settle()
  expectEvent(world, { type: 'upstream_ending', endsAt })
}

function expectNoPollution(): void {
  expect(Object('')).not.toHaveProperty('polluted')
}

/** Demands that a body that would never fit is not read to its end. */
function expectBounded({ state, dataSet }: Meeting): void {
  if (state === 'fresh') return
  expect(lastPoured?.isCancelled).toBe(true)
  expect(lastPoured?.pulled).toBeLessThanOrEqual(CAP[dataSet] + CHUNK)
}

/** Requires the rate before in place of one that was dropped, and 502 where there is none. */
async function expectLastRate({ world, state, before }: Meeting): Promise<void> {
  if (state === 'fresh') return
  for (const target of ['/api/v1/convert?from=AED&to=EUR', '/api/convert?from=AED&to=EUR']) {
    const { status, body } = await askOne(world, target)
    expect(status, target).toBe(state === 'warm' ? 200 : 502)
    if (state === 'warm') expect(JSON.parse(body).updatedAt).toBe(before?.latest.updatedAt)
  }
  const { body } = await askOne(world, '/api/rates')
  expect(JSON.parse(body).rates['AED']).toBe(
    state === 'warm' ? before?.latest.rates['AED'] : undefined,
  )
}

/** Demands that a currency that has left is refused by its name, and harms nobody who only lists it. */
async function expectGone({ world, state, now }: Meeting): Promise<void> {
  if (state === 'fresh') return
  const code = 'BGN'
  const replies = await ask(world, [
    `/api/v1/latest?base=${code}`,
    `/api/v1/convert?from=${code}&to=EUR`,
    `/api/rates?base=${code}`,
    `/api/convert?from=EUR&to=${code}`,
  ])
  for (const reply of replies) expectRefusal(reply, 400, code)
  const { status, body } = await askOne(world, `/api/v1/latest?symbols=EUR,${code}`)
  expect(status).toBe(200)
  expect(JSON.parse(body).rates).toEqual({ EUR: now?.latest.rates['EUR'] })
}

async function expectServed({ world, state }: Meeting): Promise<void> {
  if (state === 'fresh') return
  const { body } = await askOne(world, `/api/v1/convert?from=USD&to=${NEWCOMER}&amount=2`)
  expect(JSON.parse(body)).toMatchObject({ rate: 12.5, result: 25 })
}

function expectHeldBack({ world, state }: Meeting): void {
  const events = world.service.events.map(({ event }) => event)
  const reported = events.filter(({ type }) => type === 'rates_quarantined')
  expect(reported).toHaveLength(state === 'warm' ? 1 : 0)
  if (state === 'warm') expect(reported[0]).toMatchObject({ dataSet: 'latest', codes: ['THB'] })
}

/** Demands that a move that the next publication confirms is served from then on. */
async function expectConfirmed({ world, state }: Meeting): Promise<void> {
  if (state !== 'warm') return
  const inject = changedJson(thousandfoldBaht)
  const before = truthNow(world, undefined).latest
  for (const isConfirmed of [false, true]) {
    world.upstream.fault = { dataSet: 'latest', inject }
    await world.machine.advance(DAY)
    await askAll(world)
    await world.settle()
    const wanted = toLatestTruth(thousandfoldBaht(world.upstream.latest(world.machine.now())))
    const table = await askOne(world, '/api/rates')
    const latest = isConfirmed ? wanted : withOlder(wanted, before, ['THB'])
    expectGood(table, { latest, days: {}, today: '' }, ['fresh'])
  }
}

async function expectNoHistoryOfLev({ world }: Meeting): Promise<void> {
  expectRefusal(await askOne(world, '/api/v1/history?from=BGN&to=EUR'), 400, 'BGN')
}

/** Demands that a rate of small numbers has kept its steps. */
async function expectFineSteps({ world }: Meeting): Promise<void> {
  const { body } = await askOne(world, '/api/v1/history?from=IDR&to=EUR&period=1M')
  const { points } = JSON.parse(body)
  const steps = new Set(points.map(({ r }: { r: number }) => r))
  expect(steps.size).toBeGreaterThan(15)
}

/** Requires one event for the spike, however often it is asked for. */
function expectSpikeIsHeldBack({ world, state, now }: Meeting): void {
  if (state === 'fresh') return
  const day = Object.keys(now?.days ?? {})
    .toSorted()
    .at(-2)
  const events = world.service.events.map(({ event }) => event)
  const reported = events.filter(({ type }) => type === 'rates_quarantined')
  expect(reported).toMatchObject([{ dataSet: 'history', codes: [`${day} USD`] }])
}

function expectEvent({ service }: World, wanted: object): void {
  expect(service.events.map(({ event }) => event)).toContainEqual(expect.objectContaining(wanted))
}

/** Asks for currencies that have left, which is refused in every state, behind the usual questions. */
async function askForThoseWhoLeft(world: World): Promise<Reply[]> {
  const replies = await askAll(world)
  for (const code of ['BGN', 'HRK', 'RUB']) {
    const left = await ask(world, [
      `/api/v1/history?from=${code}&to=EUR`,
      `/api/v1/history?from=USD&to=${code}&period=5Y`,
    ])
    for (const reply of left) {
      expectRefusal(reply, 400, code)
      expect(JSON.parse(reply.body).error.code).toBe('unsupported_currency')
    }
  }
  return replies
}

/** Asks everything, and for history once more while the relay is still answering. */
async function askBetween({ machine, service }: World, state: State): Promise<Reply[]> {
  const askFor = (targets: readonly string[]): Promise<Reply[]> =>
    Promise.all(targets.map((target) => service.ask(target)))
  const history = TARGETS.filter((target) => target.includes('/history'))
  const again = new Promise<Reply[]>((resolve) => {
    machine.after(SECOND, () => resolve(askFor(history)))
  })
  const replies = await machine.drive(Promise.all([askFor(TARGETS), again]), 10 * SECOND)
  expect(new Set(replies.flat().map(({ waited }) => waited))).toEqual(
    new Set(state === 'cold' || state === 'expired' ? [0, 2 * SECOND, SECOND] : [0]),
  )
  return replies.flat()
}

/** Demands that a store that never answers in time is left alone in between, upstream being down as well. */
async function expectRest({ state, variant }: Meeting): Promise<void> {
  if (state !== 'cold') return
  const world = createWorld()
  const { machine, service } = world
  service.store.fault = variant.store
  world.upstream.fault = { dataSet: 'latest', inject: () => new Response(null, { status: 503 }) }
  for (let halves = 0; halves < 80; halves += 1) {
    expect((await askOne(world, '/api/rates')).status).toBe(502)
    await machine.advance(SECOND / 2)
  }
  const times = service.store.operations.map(({ at }) => at)
  expect(times.length).toBeGreaterThan(FAILURES)
  const gaps = times.slice(FAILURES).map((at, index) => at - (times[FAILURES - 1 + index] ?? NaN))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(REST)
  service.handler.close()
}

/** Asks three thousand questions that differ, beside the usual ones. */
async function flood(world: World): Promise<Reply[]> {
  const known = ['USD', 'EUR', 'JPY', 'GBP', 'CHF', 'AUD', 'INR', 'SEK']
  const targets = codes(3_000).map((code, index) => {
    const pick = (step: number): string => known[(index + step) % known.length] ?? ''
    const questions = [
      `/api/v1/latest?base=${pick(0)}&symbols=${pick(1)},${pick(2)}&junk=${index}`,
      `/api/v1/convert?from=${pick(0)}&to=${pick(3)}&amount=${index}`,
      `/api/v1/history?from=${pick(0)}&to=${pick(1)}&period=1W&x=${code}`,
      `/api/v1/latest?base=${code}`,
      `/api/convert?from=${code}&to=USD`,
    ]
    return questions[index % 5] ?? ''
  })
  const replies = await ask(world, [...TARGETS, ...targets])
  const flooded = replies.slice(TARGETS.length)
  const valid = flooded.filter((_, index) => index % 5 < 3)
  expect(new Set(valid.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(flooded.map(({ status }) => status))).toEqual(new Set([200, 400]))
  return replies.slice(0, TARGETS.length)
}

/** Demands that each value was written once, not back and forth. */
async function expectOneWrite({ world, state }: Meeting): Promise<void> {
  await ask(world, ['/api/rates', '/api/v1/history?from=EUR&to=USD'])
  await world.settle()
  const { operations, entries } = world.service.store
  const writes = operations.filter(({ operation }) => operation === 'set')
  const before: Record<State, number> = { cold: 0, warm: 2, expired: 2, fresh: 2 }
  expect(writes.length - before[state]).toBe(state === 'fresh' ? 0 : 2)
  expect(entries.size).toBe(2)
}

function slow(name: string, more: Partial<Variant>): Variant {
  return { name, verdict: 'accepted', inject: after(SECOND), takes: SECOND, ...more }
}

function jumping(name: string, arrive: NonNullable<Variant['arrive']>): Variant {
  const end = (world: World): void => setClocks(world, 0)
  return { name, verdict: 'accepted', world: { start: THURSDAY }, arrive, end }
}

function setClocks({ services }: World, error: number): void {
  for (const { process } of services) process.clock.set(error)
}

/** A world in which nothing is wrong but that the clock of the second process is `clockError` ms ahead. */
function apart(name: string, clockError: number): Variant {
  const world = { processes: [{}, { clockError }] }
  return { name, verdict: 'accepted', world, afterwards: expectNoPingPong }
}

function onDay(name: string, date: string): Variant {
  return { name, verdict: 'accepted', world: { start: Date.parse(`${date}T18:00:00Z`) } }
}

/** Demands that two processes agree without taking data from each other for ever. */
async function expectNoPingPong({ world }: Meeting): Promise<void> {
  const before = world.attempts()
  const publications = new Map<string, number>()
  for (let hour = 0; hour < 3 * 24; hour += 1) {
    await world.machine.advance(HOUR)
    const replies = await ask(world, ['/api/rates', '/api/v1/history?from=EUR&to=USD&period=1W'])
    for (const [index, { body }] of replies.entries()) {
      const { updatedAt, points } = JSON.parse(body)
      const published: number = updatedAt ?? Date.parse(points.at(-1).d)
      expect(published).toBeGreaterThanOrEqual(publications.get(String(index)) ?? 0)
      publications.set(String(index), published)
    }
  }
  // Three days have at most three publications, which two processes load once each.
  const { latest, history } = world.attempts()
  expect(latest - before.latest).toBeLessThanOrEqual(6)
  expect(history - before.history).toBeLessThanOrEqual(6)
}

function rejecting(name: string, more: Partial<Variant>): Variant {
  return slow(name, {
    verdict: 'refused',
    async inject(exchange) {
      await later(exchange, SECOND)
      throw wireError(SECRET)
    },
    act: (world, state) => (state === 'cold' ? leaveAll(world, state) : askAll(world)),
    ...more,
  })
}

/** One asks before the others, and leaves after half a second: the others' answers. */
async function leaveFirst(world: World, state: State): Promise<Reply[]> {
  const { machine, service, upstream } = world
  const leaving = new AbortController()
  const left = service.ask('/api/v1/latest', leaving)
  machine.after(SECOND / 2, () => leaving.abort())
  const [others] = await Promise.all([askAll(world), left])
  const calls = upstream.calls.filter(({ dataSet }) => dataSet === 'latest')
  expect(calls.at(-1)?.init.signal?.aborted).toBe(false)
  const { status, waited } = await left
  const mustWait = state === 'cold' || state === 'expired'
  expect([status, waited]).toEqual(mustWait ? [502, SECOND / 2] : [200, 0])
  return others
}

/** Everybody asks, and leaves after half a second; the answers, where they were there already. */
async function leaveAll({ machine, service }: World, state: State): Promise<Reply[]> {
  const asking = TARGETS.map((target) => {
    const leaving = new AbortController()
    machine.after(SECOND / 2, () => leaving.abort())
    return service.ask(target, leaving)
  })
  const replies = await machine.drive(Promise.all(asking), 10 * SECOND)
  for (const { waited } of replies) expect(waited).toBeLessThanOrEqual(SECOND / 2)
  return state === 'warm' || state === 'fresh' ? replies : []
}

/** Asks for nobody; the answers, where they were there already. */
async function askAborted(world: World, state: State): Promise<Reply[]> {
  const { machine, service } = world
  const before = world.attempts()
  const asking = TARGETS.map((target) => {
    const leaving = new AbortController()
    leaving.abort()
    return service.ask(target, leaving)
  })
  const replies = await machine.drive(Promise.all(asking), 10 * SECOND)
  await world.settle()
  if (state === 'warm' || state === 'fresh') return replies
  expect(world.attempts()).toEqual(before)
  return []
}

/** Asks, and stops the process for an hour as soon as it has answered. */
async function askAndFreeze(world: World, state: State): Promise<Reply[]> {
  const replies = await askAll(world)
  if (state !== 'warm') return replies
  world.service.process.pause(HOUR)
  await world.machine.advance(HOUR)
  return replies
}

function give(work: Promise<unknown>): void {
  const entry = { isDone: false }
  given.push(entry)
  const end = (): void => void (entry.isDone = true)
  // Work that rejects is never done.
  work.then(end, () => undefined)
}

/** Asks; where data are refreshed behind the answers, the host has been given that. */
async function askAndWatch(world: World, state: State): Promise<Reply[]> {
  const replies = await askAll(world)
  if (state === 'warm') expect(given.some(({ isDone }) => !isDone)).toBe(true)
  return replies
}

/** Demands that all work that was given has come to its end, and to a good one. */
async function expectWorkDone({ world, state }: Meeting): Promise<void> {
  await world.settle()
  if (state === 'warm') expect(given).not.toEqual([])
  expect(given.filter(({ isDone }) => !isDone)).toEqual([])
}

function askTenThousand(world: World): Promise<Reply[]> {
  return ask(world, [...TARGETS, ...Array<string>(10_000).fill('/api/convert?from=USD&to=GBP')])
}
