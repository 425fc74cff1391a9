import { dayAt } from './pair-series.ts'
import type { PairSeries } from './pair-series.ts'
import { mean, percentChange } from './rounding.ts'

/** Statistics of the points of a pair. */
export interface HistoryStats {
  /** Rate of the first point. */
  open: number
  /** Rate of the last point. */
  close: number
  /** Highest rate. */
  high: number
  /** Lowest rate. */
  low: number
  /** (close / open − 1) × 100, rounded to 4 decimals. */
  changePct: number
  /** Mean of the rates, 10 significant digits. */
  average: number
  /** First day with the rate `high`, `YYYY-MM-DD`. */
  highDate: string
  /** First day with the rate `low`, `YYYY-MM-DD`. */
  lowDate: string
}

/** Returns the statistics of a series, or `undefined` if it is empty. */
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
