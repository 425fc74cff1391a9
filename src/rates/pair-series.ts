import type { Day } from './day.ts'
import { rowsOf } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import { quotient } from './rounding.ts'

/** Codes of two currencies. */
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
}

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
  let count = 0
  for (let row = first; row < end; row += 1) {
    const fromRate = from ? (from[row] ?? NaN) : 1
    const toRate = to ? (to[row] ?? NaN) : 1
    if (Number.isNaN(fromRate) || Number.isNaN(toRate)) continue
    rows[count] = row
    rates[count] = from ? quotient(toRate, fromRate) : toRate
    count += 1
  }
  return { dates: history.dates, rows: rows.subarray(0, count), rates: rates.subarray(0, count) }
}

/** Returns the day of the rate at `index`. */
export function dayAt({ dates, rows }: PairSeries, index: number): Day {
  return dates[rows[index] ?? NaN] ?? ''
}

function columnOf({ base, columns }: MarketHistory, code: string): Float64Array | undefined {
  return code === base ? undefined : (columns.get(code) ?? new Float64Array())
}
