import { LEGAL, byLaw, toLatestTruth, withOlder } from '../faults/fault.ts'
import type { DataSet, Days, Fault, LatestTruth, State, Verdict } from '../faults/fault.ts'
import { textOf } from '../faults/store.ts'
import type { StoredValue } from '../faults/store.ts'
import { HISTORY_SOURCE, LATEST_SOURCE } from '../fixtures/contract.ts'
import { toDay } from '../fixtures/dates.ts'
import { DAY, MINUTE, SECOND } from '../virtual-runtime.ts'
import type { TimedResponse, World, WorldOptions } from './world.ts'

/** One form of a fault, and how to trigger it. Omitted fields are as in a healthy world. */
export interface Variant extends Fault {
  begin?(world: World, state: State): void
  world?: WorldOptions
  /** Provider calls per data set during the fault (default: one). */
  attempts?: Partial<Record<State, number>>
  /** Further checks after the fault. */
  afterwards?(world: World, dataSet: DataSet): Promise<void>
}

export const STATES: readonly State[] = ['cold', 'warm', 'expired', 'fresh']

/** Longer than the budget of 5 s, so that longer waits are detected. In ms. */
const DRIVE_LIMIT = 30 * SECOND

/** Time between the first load and the fault, in ms. */
const DELAY = { cold: 0, warm: 5 * DAY, expired: 19 * DAY, fresh: 5 * MINUTE }

/** Newest days that every refresh loads again. */
const RELOADED_DAYS = 7

/** Time after which all data is due again, on every day of the week. In ms. */
const NEXT_REFRESH = 4 * DAY

const CALL_LIMIT: Record<DataSet, number> = { latest: 5 * SECOND, history: 10 * SECOND }

/** Targets that every process serves at every stage. */
const TARGETS: readonly string[] = [
  '/api/v1/latest?base=EUR&symbols=USD,GBP,JPY',
  '/api/v1/convert?from=EUR&to=JPY&amount=2.5',
  '/api/rates',
  '/api/convert?from=USD&to=GBP',
  '/api/v1/history?from=EUR&to=USD&period=1M',
  '/api/v1/history?from=USD&to=INR&period=1M',
]

/** Observations of one form of a fault, stage by stage. */
export type Journey = Awaited<ReturnType<typeof travel>>

export function verdictIn({ verdict, inState }: Variant, state: State): Verdict {
  return inState?.[state] ?? verdict
}

/** Runs a handler in `state` through `variant` and its recovery. */
export async function travel(world: World, variant: Variant, dataSet: DataSet, state: State) {
  const { machine } = world
  const advanceTo = (time: number): Promise<void> =>
    machine.advance(Math.max(0, time - machine.elapsed()))
  const primed = state === 'cold' ? undefined : await prime(world)
  await machine.advance(DELAY[state])
  const before = primed && { ...primed, today: todayOf(world) }
  begin(world, variant, dataSet, state)
  const [attemptsBefore, beganAt] = [world.attempts(), machine.elapsed()]

  const first = await sendAll(world)
  const { takes = 0 } = variant
  await advanceTo(beganAt + (takes === 'limit' ? CALL_LIMIT[dataSet] : takes))
  await world.settle()
  const isRefused = verdictIn(variant, state) === 'refused'
  const usable = state === 'warm' ? before : undefined
  const now = state === 'fresh' && before ? before : truthNow(world, usable, variant.serves)
  const isServed = state === 'warm' || state === 'fresh' || !isRefused
  const kept = isRefused && usable ? keep(usable, dataSet, now) : now
  const conversions = TARGETS.filter((target) => target.includes('convert'))
  const often = Array.from({ length: 4 }, () => conversions).flat()
  const after = [...(await sendAll(world)), ...(await send(world, often))]

  const endedAt = lastOutcome(world, dataSet) ?? machine.elapsed()
  const isPaused = isRefused && state !== 'fresh'
  const pause = variant.pause ?? (isPaused ? SECOND : 10 * MINUTE)
  await advanceTo(endedAt + pause - 1)
  const paused = await sendAll(world)
  await world.settle()
  const attempts = since(attemptsBefore, world.attempts())

  end(world)
  await machine.advance(isPaused ? pause / 2 + 2 : NEXT_REFRESH)
  await sendAll(world)
  await world.settle()
  const recovered = await sendAll(world)
  const attemptsAfterwards = since(attemptsBefore, world.attempts())
  const afterwards = truthNow(world, isServed ? kept : undefined, variant.servesAfterwards)
  await variant.afterwards?.(world, dataSet)
  return {
    world,
    state,
    variant,
    dataSet,
    before,
    /** Start of the fault, in ms of machine time. */
    beganAt,
    first,
    /** Responses right after the fault was first met. */
    after,
    /** Responses at the end of the backoff, while the fault persists. */
    paused,
    /** Responses after the fault, when the upstream may be called again. */
    recovered,
    /** Data that may be served during the fault; that of `dataSet` only if `isServed`. */
    now: kept,
    isServed,
    afterwards,
    /** Provider calls from the fault until `paused`, and until `recovered`. */
    attempts,
    attemptsAfterwards,
  }
}

export function sendAll(world: World): Promise<TimedResponse[]> {
  return send(world, TARGETS)
}

function send(world: World, targets: readonly string[]): Promise<TimedResponse[]> {
  const pending = targets.map((target) => world.request(target))
  return world.machine.drive(Promise.all(pending), DRIVE_LIMIT)
}

/** Loads both data sets; returns the data to serve. */
async function prime(world: World): Promise<Truth> {
  await sendAll(world)
  await world.settle()
  return truthNow(world, undefined)
}

function begin(world: World, variant: Variant, dataSet: DataSet, state: State): void {
  const { store: fault, holds } = variant
  const { store } = world
  world.upstream.fault = { ...variant, dataSet }
  store.fault = fault
  const claim = fault?.claim
  if (claim) store.claim = async (key) => (await claim(store.operationOn(key, () => true))) === true
  if (holds) fill(world, holds)
  variant.begin?.(world, state)
}

function end({ upstream, store }: World): void {
  upstream.fault = undefined
  store.fault = undefined
  delete store.claim
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
export interface Truth {
  latest: LatestTruth
  days: Days
  /** Day of the request, in UTC. */
  today: string
}

/** Returns the data to serve after a load now, if `before` was served until then. */
export function truthNow(
  world: World,
  before: Truth | undefined,
  serves: Fault['serves'] = {},
): Truth {
  const { upstream, machine } = world
  const today = todayOf(world)
  const body = upstream.latest(machine.now())
  const served = serves.latest?.(body, before?.latest) ?? toLatestTruth(body)
  const latest = loadedBy(world, before ? carriedOver(served, before.latest) : served)
  const published = Object.keys(before?.days ?? {}).toSorted()
  const since = published.at(-RELOADED_DAYS) ?? published[0] ?? ''
  const history = upstream.history(today, machine.now())
  const requested = Object.entries(history.rates).filter(([date]) => date >= since)
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

function loadedBy({ process }: World, latest: LatestTruth): LatestTruth {
  const loadedAt = process.clock.now()
  return latest.updatedAt > loadedAt ? { ...latest, loadedAt } : latest
}

/** Returns the day (UTC) of the clock of the process. */
function todayOf({ process }: World): string {
  return toDay(process.clock.now())
}

export function fill(world: World, change: (good: StoredValue) => unknown = (good) => good): void {
  const { entries } = world.store
  for (const key of ['rates:v1:latest', 'rates:v1:history'])
    entries.set(key, textOf(change(fabricated(key, world))))
}

/** Creates a valid envelope with data published one minute ago. */
function fabricated(key: string, { upstream, machine }: World): StoredValue {
  const savedAt = machine.now() - MINUTE
  if (key.endsWith('latest')) {
    const table = { ...toLatestTruth(upstream.latest(savedAt)), base: 'USD' }
    return { v: 2, key, savedAt, data: { attribution: LATEST_SOURCE, table } }
  }
  const { rates } = upstream.history(toDay(savedAt), savedAt)
  const days = Object.entries(rates).map(([date, day]) => ({ date, rates: day }))
  const data = { attribution: HISTORY_SOURCE, start: '2021-01-01', base: 'EUR', days }
  return { v: 2, key, savedAt, data }
}
