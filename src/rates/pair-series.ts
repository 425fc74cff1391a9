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
  readonly days: readonly Day[]
  /** Units of `to` for one unit of `from`, in step with `days`. */
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
  const days: Day[] = []
  const rates = new Float64Array(end - first)
  for (let row = first; row < end; row += 1) {
    const fromRate = from ? (from[row] ?? NaN) : 1
    const toRate = to ? (to[row] ?? NaN) : 1
    const day = history.dates[row]
    if (day === undefined || Number.isNaN(fromRate) || Number.isNaN(toRate)) continue
    rates[days.length] = from ? quotient(toRate, fromRate) : toRate
    days.push(day)
  }
  return { days, rates: rates.subarray(0, days.length) }
}

/** The quotes of `code`; undefined for the base, which is 1 on every day. */
function columnOf({ base, columns }: MarketHistory, code: string): Float64Array | undefined {
  return code === base ? undefined : (columns.get(code) ?? new Float64Array())
}
