import type { HistoryBody, LatestBody } from './upstream.ts'
import type { World } from './world.ts'

/** What may be answered at some moment: one publication of each data set. */
export interface Truth {
  latest: LatestTruth
  /** Rates against EUR by day. */
  days: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** The day, in UTC, on which it is asked for. */
  today: string
}

/** One publication of latest rates; times in ms since the Unix epoch. */
export interface LatestTruth {
  updatedAt: number
  nextUpdateAt: number
  rates: Readonly<Record<string, number>>
}

/** What of an answer that an upstream gives while something is wrong is to be served. */
export interface Serves {
  latest?(body: LatestBody, before: Truth | undefined): LatestTruth
  history?(body: HistoryBody): Truth['days']
}

const DAY_SECONDS = 86_400

/** What an answer of the open feed says. */
export function toLatestTruth(body: LatestBody): LatestTruth {
  const updatedAt = body.time_last_update_unix * 1_000
  const nextUpdate = body.time_next_update_unix || body.time_last_update_unix + DAY_SECONDS
  return { updatedAt, nextUpdateAt: nextUpdate * 1_000, rates: body.rates }
}

/** What is true once data have been loaded now, where `before` was served until then. */
export function truthNow(world: World, before: Truth | undefined, serves: Serves = {}): Truth {
  const { upstream, machine } = world
  const today = todayOf(world)
  const body = upstream.latest(machine.now())
  const latest = serves.latest?.(body, before) ?? toLatestTruth(body)
  const newest = newestDay(before)
  const history = upstream.history('2000-01-01', today, machine.now())
  // Only the days after the newest one are asked for.
  const asked = Object.entries(history.rates).filter(([date]) => date > newest)
  const missing = { ...history, rates: Object.fromEntries(asked) }
  const days = serves.history?.(missing) ?? missing.rates
  return { latest, days: { ...before?.days, ...days }, today }
}

/** The day, in UTC, by the clock of the first process. */
export function todayOf({ service }: World): string {
  return new Date(service.process.now()).toISOString().slice(0, 10)
}

function newestDay(truth: Truth | undefined): string {
  return Object.keys(truth?.days ?? {}).reduce((one, other) => (one > other ? one : other), '')
}
