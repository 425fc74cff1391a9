import type { Day } from './day.ts'
import { rowsOf } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import { quotient } from './rounding.ts'

/** Two currencies by their codes. */
export interface Pair {
  from: string
  to: string
}

/** The rates of a pair, one a day on which both currencies are quoted, ascending. */
export interface PairSeries {
  /** All days of the market. */
  readonly dates: readonly Day[]
  /** Which of them each rate is of. */
  readonly rows: Uint32Array
  /** Units of `to` for one unit of `from`, in step with `rows`. */
  readonly rates: Float64Array
}

/** The series of a pair from `start` to `end`, both inclusive. */
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

/** The day of the rate at `index`. */
export function dayAt({ dates, rows }: PairSeries, index: number): Day {
  return dates[rows[index] ?? NaN] ?? ''
}

/** The quotes of `code`; undefined for the base, which is 1 on every day. */
function columnOf({ base, columns }: MarketHistory, code: string): Float64Array | undefined {
  return code === base ? undefined : (columns.get(code) ?? new Float64Array())
}
