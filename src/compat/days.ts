import { RatesError } from '../errors.ts'
import { LARGE_BODY_BYTES, MAX_TURNS } from '../http/limiter.ts'
import type { Representation } from '../http/representation.ts'
import type { RatesOperations } from '../operations.ts'
import { dayNumber } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import type { Point } from '../records/history.ts'
import type { Runtime } from '../runtime.ts'
import { representJson } from './route.ts'
import type { CompatRequest } from './route.ts'

/** Daily rates of some currencies against a base. */
export interface DailyRates {
  base: string
  /** The days on which there are any, ascending. */
  days: Day[]
  /** By code, in the order of the codes; NaN for a day without a rate. Codes without any rate are left out. */
  columns: Map<string, Float64Array>
}

/** Which daily rates to read. */
export interface DaysQuery {
  base: string
  /** Sorted; without any, all that are quoted. */
  codes: readonly string[] | undefined
  start: Day
  end: Day
  /** Whether a code that is never quoted is an error (default: it is left out). */
  isStrict?: boolean
}

/** A rate of one day takes about so much in a response, in bytes. */
const RATE_BYTES = 16

/** The longest time that other requests get after one piece of work, in ms. */
const MAX_PAUSE_MS = 10

/** The number of days that are written at a time. */
const DAYS_AT_ONCE = 256

/**
 * Returns the codes that reference rates against `base` have on any day from `start` to `end`, sorted, without the base. The
 * first and the last day and every January in between are looked at: no currency was quoted for less than a year.
 *
 * @throws {RatesError} as `rates.latest()` does, when no day has rates
 */
async function quotedCodes(
  rates: RatesOperations,
  { base, start, end }: DaysQuery,
): Promise<string[]> {
  const codes = new Set<string>()
  let failure: unknown
  for (const date of daysToRead(start, end)) {
    try {
      const table = await rates.latest({ base, date })
      for (const code of Object.keys(table.rates)) codes.add(code)
    } catch (error) {
      if (!isNoData(error)) throw error
      failure = error
    }
  }
  if (codes.size === 0) throw failure
  codes.delete(base)
  return [...codes].sort()
}

function daysToRead(start: Day, end: Day): Day[] {
  // Reference rates begin in 1999.
  const first = Math.max(1999, Number(start.slice(0, 4)))
  const years = Math.max(0, Number(end.slice(0, 4)) - first)
  return [
    start,
    ...Array.from({ length: years }, (_, year) => `${first + year + 1}-01-01`),
    end,
  ].filter((day) => day <= end)
}

/** Whether `error` says that there are no rates, as opposed to a code that never had any. */
export function isNoData(error: unknown): boolean {
  return error instanceof RatesError && error.code === 'no_data'
}

/** The last day up to `day` on which there were rates, or else `day`: where Frankfurter begins a range. */
export async function publishedOn(rates: RatesOperations, base: string, day: Day): Promise<Day> {
  try {
    return (await rates.latest({ base, date: day })).date
  } catch (error) {
    if (isNoData(error)) return day
    throw error
  }
}

/** Whether `error` is about a code that is never quoted. */
function isUnknown(error: unknown): boolean {
  return error instanceof RatesError && error.parameter === 'to' && error.code.endsWith('_currency')
}

/**
 * Passes the daily rates of `question` to `write` and represents the JSON that it returns. One currency is read at a time, and
 * other requests get as much time after it as it took. Of work with a large result, two pieces are under way at most, and
 * requests that wait for the same result share it.
 *
 * @throws {RatesError} `no_data` where no currency has a rate, `overloaded` where too much of such work waits, and as
 * `rates.history()` does
 */
export async function withDailyRates(
  request: CompatRequest,
  question: DaysQuery,
  write: (daily: DailyRates, pause: Pause) => Promise<string>,
): Promise<Representation> {
  const { rates, runtime, limiter, jobs, key } = request
  const codes = question.codes ?? (await quotedCodes(rates, question))
  if (question.codes) await load(rates, question)
  const days = dayNumber(question.end) - dayNumber(question.start)
  const isLarge = days * codes.length * RATE_BYTES > LARGE_BODY_BYTES
  const read = async (): Promise<Representation> => {
    const pause = createPause(runtime)
    const text = await write(await readDays(rates, { ...question, codes }, pause), pause)
    await pause()
    return representJson(text)
  }
  return isLarge ? limiter.run(read, request, { jobs, key }) : read()
}

/** Waits for the upstream, so that large work does not. Throws where the base is unknown. */
async function load(rates: RatesOperations, { base, start, end }: DaysQuery): Promise<void> {
  try {
    await rates.latest({ base, date: start < end ? start : end })
  } catch (error) {
    if (!isNoData(error)) throw error
  }
}

/** Gives other requests time. */
export type Pause = () => Promise<void>

function createPause(runtime: Runtime): Pause {
  let startedAt = runtime.monotonic()
  return async () => {
    const now = runtime.monotonic()
    const until = now + Math.min(MAX_PAUSE_MS, now - startedAt)
    let turns = 0
    do {
      await runtime.yieldToEventLoop()
      turns += 1
    } while (runtime.monotonic() < until && turns < MAX_TURNS)
    startedAt = runtime.monotonic()
  }
}

async function readDays(
  rates: RatesOperations,
  { base, codes, start, end, isStrict }: DaysQuery & { codes: readonly string[] },
  pause: Pause,
): Promise<DailyRates> {
  const found = new Map<string, Point[]>()
  const published = new Set<Day>()
  for (const code of codes) {
    try {
      const { points } = await rates.history({ from: base, to: code, start, end })
      found.set(code, points)
      for (const { d } of points) published.add(d)
    } catch (error) {
      if (!isNoData(error) && (isStrict || !isUnknown(error))) throw error
    }
    await pause()
  }
  if (found.size === 0) throw new RatesError('no_data', 'No reference rates in these days')
  const days = [...published].sort()
  const rowOf = new Map(days.map((day, row) => [day, row]))
  const columns = new Map<string, Float64Array>()
  for (const [code, points] of found) {
    const column = new Float64Array(days.length).fill(NaN)
    for (const { d, r } of points) column[rowOf.get(d) ?? -1] = r
    columns.set(code, column)
    found.delete(code)
    await pause()
  }
  return { base, days, columns }
}

/** The rates of the day at `row`, by code. */
export function ratesAt({ columns }: DailyRates, row: number): [code: string, rate: number][] {
  const rates: [string, number][] = []
  for (const [code, column] of columns) {
    const rate = column[row] ?? NaN
    if (!Number.isNaN(rate)) rates.push([code, rate])
  }
  return rates
}

/** Returns the texts that `write` makes of each day, with the index of its row, in slices. */
export async function writeDays(
  { days }: DailyRates,
  pause: Pause,
  write: (day: Day, row: number) => string,
): Promise<string> {
  const slices: string[] = []
  for (let start = 0; start < days.length; start += DAYS_AT_ONCE) {
    const slice = days.slice(start, start + DAYS_AT_ONCE)
    slices.push(slice.map((day, index) => write(day, start + index)).join(','))
    await pause()
  }
  return slices.join(',')
}

/** Rates by code, or by another key without characters that JSON escapes. */
type Rated = readonly [key: string, rate: number]

/** Returns `head` as JSON with one more field, `name`: an object with the rates of each day. */
export async function writeByDay(
  daily: DailyRates,
  pause: Pause,
  { head, name, ratesOf }: { head: object; name: string; ratesOf: (row: number) => Rated[] },
): Promise<string> {
  const days = await writeDays(daily, pause, (day, row) => {
    const rates = ratesOf(row).map(([key, rate]) => `"${key}":${rate}`)
    return `"${day}":{${rates.join(',')}}`
  })
  return `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:{${days}}}`
}
