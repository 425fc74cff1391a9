import type { Point } from './market-history.ts'
import { mean, percentChange } from './rounding.ts'

/** Summary of a pair's points. */
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
  /** First day on which `high` was reached, `YYYY-MM-DD`. */
  highDate: string
  /** First day on which `low` was reached, `YYYY-MM-DD`. */
  lowDate: string
}

/** The summary of `points`, or `undefined` where there are none. */
export function historyStats(points: readonly Point[]): HistoryStats | undefined {
  const [first] = points
  if (!first) return undefined
  let [last, highest, lowest] = [first, first, first]
  for (const point of points) {
    last = point
    if (point.r > highest.r) highest = point
    if (point.r < lowest.r) lowest = point
  }
  return {
    open: first.r,
    close: last.r,
    high: highest.r,
    low: lowest.r,
    changePct: percentChange(first.r, last.r),
    average: mean(points.map((point) => point.r)),
    highDate: highest.d,
    lowDate: lowest.d,
  }
}
