import type { CurrencyHistory } from '../api/currencies.ts'
import type { Point } from '../api/history.ts'
import type { Runtime } from '../async.ts'
import { RatesError } from '../errors.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import type { Representation } from '../http/response.ts'
import { dayNumber } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { representJson } from './route.ts'
import type { PublishedRates } from './published-rates.ts'
import type { CompatRequest } from './route.ts'
import { earlier } from './tables.ts'

export interface DailyRates {
  base: string
  /** The days with rates, ascending. */
  days: Day[]
  /** Rates by code, in the order of the codes; NaN for a day without a rate. Codes without any rate are omitted. */
  columns: Map<string, Float64Array>
}

export interface DaysQuery {
  base: string
  /** Sorted codes (default: all that are quoted). */
  codes: readonly string[] | undefined
  start: Day
  end: Day
  /** Throws for a code that is never quoted (default: omits it). */
  isStrict?: boolean
}

/** The approximate size of a rate in a response. */
const RATE_BYTES = 16

const MAX_PAUSE_MS = 10

const DAYS_AT_ONCE = 256

/**
 * Reads the first day, the last day and each 1 January between: every currency was quoted for at least a year. Adds those that
 * their sources list, because not every source quotes all its currencies every day.
 *
 * @throws {RatesError} the error of `rates.latest()` if no day has rates
 */
async function quotedCodes(
  rates: PublishedRates,
  { base, start, end }: DaysQuery,
): Promise<string[]> {
  const codes = new Set<string>()
  const urls = new Set<string>()
  let failure: unknown
  for (const date of daysToRead(start, end)) {
    try {
      const table = await rates.latest({ base, date })
      urls.add(table.source.url)
      for (const code of Object.keys(table.rates)) codes.add(code)
    } catch (error) {
      if (!isNoData(error)) throw error
      failure = error
    }
  }
  if (codes.size === 0) throw failure
  const { currencies } = await rates.currencies()
  const isQuoted = ({ from, to, source }: CurrencyHistory): boolean =>
    urls.has(source.url) && (from ?? '') <= end && (to ?? end) >= start
  for (const { code, history, histories } of currencies) {
    if (histories ? histories.some(isQuoted) : history) codes.add(code)
  }
  codes.delete(base)
  return [...codes].sort()
}

function daysToRead(start: Day, end: Day): Day[] {
  // The first reference rates are of 1999.
  const first = Math.max(1999, Number(start.slice(0, 4)))
  const years = Math.max(0, Number(end.slice(0, 4)) - first)
  return [
    start,
    ...Array.from({ length: years }, (_, year) => `${first + year + 1}-01-01`),
    end,
  ].filter((day) => day <= end)
}

function isNoData(error: unknown): boolean {
  return error instanceof RatesError && error.code === 'no_data'
}

/** Returns the result of `work`, or `undefined` for missing rates, as opposed to a code without any rates ever. */
export async function unlessNoData<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (isNoData(error)) return undefined
    throw error
  }
}

/** Returns the last published day up to `day`, or `day` if there is none. Frankfurter starts a range there. */
export async function publishedOn(rates: PublishedRates, base: string, day: Day): Promise<Day> {
  return (await unlessNoData(rates.latest({ base, date: day })))?.date ?? day
}

function isUnknown(error: unknown): boolean {
  return error instanceof RatesError && error.parameter === 'to' && error.code.endsWith('_currency')
}

/**
 * Reads one currency at a time, and then gives other requests as much time as the read took. At most two large results are
 * computed at a time; requests for the same result share it.
 *
 * @throws {RatesError} `no_data` without any rate, `overloaded` if too many large results wait, and those of
 * `rates.history()`
 */
export async function withDailyRates(
  request: CompatRequest,
  params: DaysQuery,
  write: (daily: DailyRates, pause: Pause) => Promise<string>,
): Promise<Representation> {
  const { rates, runtime, limiter, jobs, key } = request
  const { base, start, end } = params
  const codes = params.codes ?? (await quotedCodes(rates, params))
  // Loads the data before the job starts, so that a waiting upstream does not block other jobs; throws for an unknown base.
  if (params.codes) await unlessNoData(rates.latest({ base, date: earlier(start, end) }))
  const days = dayNumber(end) - dayNumber(start)
  const isLarge = days * codes.length * RATE_BYTES > LARGE_BODY_BYTES
  const read = async (): Promise<Representation> => {
    const pause = createPause(runtime)
    const text = await write(await readDays(rates, { ...params, codes }, pause), pause)
    await pause()
    return representJson(text)
  }
  return isLarge ? limiter.run(read, request, { jobs, key }) : read()
}

const MAX_EVENT_LOOP_TURNS = 64

/** Yields to other requests for as long as the last piece of work took, up to 10 ms. */
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
    } while (runtime.monotonic() < until && turns < MAX_EVENT_LOOP_TURNS)
    startedAt = runtime.monotonic()
  }
}

async function readDays(
  rates: PublishedRates,
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
  if (found.size === 0) throw new RatesError('no_data', 'No reference rates in this range')
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

function ratesAt({ columns }: DailyRates, row: number): [code: string, rate: number][] {
  const rates: [string, number][] = []
  for (const [code, column] of columns) {
    const rate = column[row] ?? NaN
    if (!Number.isNaN(rate)) rates.push([code, rate])
  }
  return rates
}

/** Joins the texts that `write` returns for each day and its row, with a pause after every 256 days. */
async function writeDays(
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

/** The key must not contain characters that JSON escapes. */
type Rated = readonly [key: string, rate: number]

interface ByDay extends DaysQuery {
  head(daily: DailyRates): object
  name: string
  toRated(rates: [code: string, rate: number][]): Rated[]
}

export function representByDay(
  request: CompatRequest,
  { head, name, toRated, ...params }: ByDay,
): Promise<Representation> {
  return withDailyRates(request, params, async (daily, pause) => {
    const days = await writeDays(daily, pause, (day, row) => {
      const rates = toRated(ratesAt(daily, row)).map(([key, rate]) => `"${key}":${rate}`)
      return `"${day}":{${rates.join(',')}}`
    })
    return `${JSON.stringify(head(daily)).slice(0, -1)},${JSON.stringify(name)}:{${days}}}`
  })
}
