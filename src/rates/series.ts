import { crossQuotes, mean, percentChange, quotient } from './arithmetic.ts'
import { dayNumber, monthNumber } from './dates.ts'
import type { Day, Interval } from './dates.ts'
import { rowsOf } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import type { Rate } from './rate-table.ts'

export interface Pair {
  from: string
  to: string
}

/** The rates of a pair on days that quote both currencies, ascending. */
export interface PairSeries {
  /** All published days of the market. */
  readonly dates: readonly Day[]
  /** Index in `dates` of each rate. */
  readonly rows: Uint32Array
  /** Units of `to` for one unit of `from`, by the indexes of `rows`. */
  readonly rates: Float64Array
  /** 1 for each rate that was not published on its day; absent if all were. */
  readonly filled?: Uint8Array
  /** The published rates among those of a series with `filled`; absent without one. */
  readonly published?: PairSeries | undefined
  /** Day on which the first rate was published; absent without `filled`. */
  readonly since?: Day | undefined
}

/** The rate of an interval: its last, the mean of its days, its first, highest or lowest. */
export type IntervalValue = 'last' | 'average' | 'open' | 'high' | 'low'

/** All values of an interval, the default first. */
export const INTERVAL_VALUES: readonly IntervalValue[] = ['last', 'average', 'open', 'high', 'low']

/** Returns the series of a pair from `start` to `end` (inclusive). */
export function pairSeries(
  history: MarketHistory,
  pair: Pair,
  window: { start: Day; end: Day },
): PairSeries {
  const [first, end] = rowsOf(history, window.start, window.end)
  const [from, to] = [columnOf(history, pair.from), columnOf(history, pair.to)]
  const rows = new Uint32Array(end - first)
  const rates = new Float64Array(end - first)
  const isFromPriced = history.priced?.has(pair.from) === true
  const isToPriced = history.priced?.has(pair.to) === true
  const isAnyPriced = isFromPriced || isToPriced
  let count = 0
  for (let row = first; row < end; row += 1) {
    const fromRate = from ? (from[row] ?? NaN) : 1
    const toRate = to ? (to[row] ?? NaN) : 1
    if (Number.isNaN(fromRate) || Number.isNaN(toRate)) continue
    rows[count] = row
    if (isAnyPriced) {
      const fromQuote = { value: from && fromRate, isPriced: isFromPriced }
      rates[count] = crossQuotes(fromQuote, { value: to && toRate, isPriced: isToPriced })
    } else rates[count] = from ? quotient(toRate, fromRate) : toRate
    count += 1
  }
  return { dates: history.dates, rows: rows.subarray(0, count), rates: rates.subarray(0, count) }
}

export function dayAt({ dates, rows }: PairSeries, index: number): Day {
  return dates[rows[index] ?? NaN] ?? ''
}

/** Returns the column of `code`, empty for an unknown one; undefined for the base. */
export function columnOf({ base, columns }: MarketHistory, code: string): Float64Array | undefined {
  return code === base ? undefined : (columns.get(code) ?? new Float64Array())
}

/** By interval, the number of the one with a day. */
export const SPAN_OF: Record<Exclude<Interval, 'day'>, (day: Day) => number> = {
  // Day 0 was a Thursday.
  week: (day) => Math.floor((dayNumber(day) + 3) / 7),
  month: monthNumber,
  quarter: (day) => Math.floor(monthNumber(day) / 3),
  year: (day) => Math.floor(monthNumber(day) / 12),
}

/** Statistics of the points of a pair. */
export interface HistoryStats {
  /** Rate of the first point. */
  open: Rate
  /** Rate of the last point. */
  close: Rate
  /** Highest rate. */
  high: Rate
  /** Lowest rate. */
  low: Rate
  /** (close / open − 1) × 100, rounded to 4 decimals. */
  changePct: number
  /** Mean of the rates, 10 significant digits. */
  average: Rate
  /** First day on which `high` was reached, `YYYY-MM-DD`. */
  highDate: Day
  /** First day on which `low` was reached, `YYYY-MM-DD`. */
  lowDate: Day
}

export function historyStats(series: PairSeries): HistoryStats | undefined {
  const { rates } = series
  const open = rates[0]
  if (open === undefined) return undefined
  const close = rates.at(-1) ?? open
  let [high, low] = [open, open]
  for (let index = 1; index < rates.length; index += 1) {
    const rate = rates[index] ?? open
    if (rate > high) high = rate
    if (rate < low) low = rate
  }
  return {
    open,
    close,
    high,
    low,
    changePct: percentChange(open, close),
    average: mean(rates),
    highDate: dayAt(series, rates.indexOf(high)),
    lowDate: dayAt(series, rates.indexOf(low)),
  }
}
