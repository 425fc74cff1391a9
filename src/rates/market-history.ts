import { addDays } from './day.ts'
import type { Day } from './day.ts'
import { quotient } from './rounding.ts'

/** How long a currency without new rates still counts as covered, in days up to the newest published one. */
const COVERAGE_DAYS = 14

/** The reference rates of a whole market: one column of numbers a currency, one row a published day. */
export interface MarketHistory {
  /** Code against which all columns are quoted; it has no column of its own. */
  readonly base: string
  /** The published days, ascending. */
  readonly dates: readonly Day[]
  /** Units of each currency for one unit of `base`, in step with `dates`; NaN where a day lacks it. */
  readonly columns: ReadonlyMap<string, Float64Array>
}

/** The rates of one published day, against the market's base. */
export interface MarketDay {
  date: Day
  rates: ReadonlyMap<string, number>
}

/** One day of a pair. */
export interface Point {
  /** The date, `YYYY-MM-DD`. */
  d: string
  /** Units of `to` for one unit of `from`. */
  r: number
}

/** Builds the columns of `days`, which may come in any order; of two rows for one day the later one counts. */
export function toMarketHistory(base: string, days: readonly MarketDay[]): MarketHistory {
  const byDate = new Map(days.map((day) => [day.date, day.rates]))
  const dates = [...byDate.keys()].sort()
  const columns = new Map<string, Float64Array>()
  for (const [row, date] of dates.entries()) {
    for (const [code, rate] of byDate.get(date) ?? []) {
      let column = columns.get(code)
      if (!column) columns.set(code, (column = new Float64Array(dates.length).fill(NaN)))
      column[row] = rate
    }
  }
  return { base, dates, columns }
}

/** `held` with the days of `added` in it, which win where both have a day, and without days before `start`. */
export function mergeHistory(held: MarketHistory, added: MarketHistory, start: Day): MarketHistory {
  const days = [...marketDays(held), ...marketDays(added)]
  return toMarketHistory(
    held.base,
    days.filter((day) => day.date >= start),
  )
}

/** The rows of `history`, ascending. */
export function marketDays(history: MarketHistory): MarketDay[] {
  return history.dates.map((date, row) => {
    const rates = new Map<string, number>()
    for (const [code, column] of history.columns) {
      const rate = column[row]
      if (rate !== undefined && !Number.isNaN(rate)) rates.set(code, rate)
    }
    return { date, rates }
  })
}

/** The newest published day that is not after `today`, or `undefined` where there is none. */
export function newestDay(history: MarketHistory, today: Day): Day | undefined {
  return history.dates.findLast((date) => date <= today)
}

/** The codes that the market carries now, sorted: those quoted in the 14 days up to `newest`, and the base. */
export function coveredCodes(history: MarketHistory, newest: Day): string[] {
  const [first, end] = rowsOf(history, addDays(newest, 1 - COVERAGE_DAYS), newest)
  const codes = [history.base]
  for (const [code, column] of history.columns) {
    if (column.subarray(first, end).some((rate) => !Number.isNaN(rate))) codes.push(code)
  }
  return codes.sort()
}

/** The points of a pair from `start` to `end`, both inclusive, ascending; days without both currencies are left out. */
export function pairPoints(
  history: MarketHistory,
  pair: { from: string; to: string },
  window: { start: Day; end: Day },
): Point[] {
  const [first, end] = rowsOf(history, window.start, window.end)
  const fromColumn = history.columns.get(pair.from)
  const toColumn = history.columns.get(pair.to)
  const points: Point[] = []
  for (let row = first; row < end; row += 1) {
    const fromRate = pair.from === history.base ? 1 : (fromColumn?.[row] ?? NaN)
    const toRate = pair.to === history.base ? 1 : (toColumn?.[row] ?? NaN)
    const d = history.dates[row]
    if (d === undefined || Number.isNaN(fromRate) || Number.isNaN(toRate)) continue
    points.push({ d, r: pairRate(pair, history.base, fromRate, toRate) })
  }
  return points
}

function pairRate(
  { from, to }: { from: string; to: string },
  base: string,
  fromRate: number,
  toRate: number,
): number {
  if (from === to) return 1
  return from === base ? toRate : quotient(toRate, fromRate)
}

/** The rows from `start` to `end`, both inclusive, as the index of the first and the index behind the last. */
function rowsOf({ dates }: MarketHistory, start: Day, end: Day): [number, number] {
  return [firstRow(dates, (date) => date >= start), firstRow(dates, (date) => date > end)]
}

function firstRow(dates: readonly Day[], reached: (date: Day) => boolean): number {
  let low = 0
  let high = dates.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (reached(dates[middle] ?? '')) high = middle
    else low = middle + 1
  }
  return low
}
