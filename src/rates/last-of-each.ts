import { DAY_MS, toInstant } from './day.ts'
import type { Day } from './day.ts'
import type { Interval } from './interval.ts'
import { dayAt } from './pair-series.ts'
import type { PairSeries } from './pair-series.ts'

/** What days of the same interval have in common, and no others. */
const SPAN_OF: Record<Interval, (day: Day) => string | number> = {
  day: (day) => day,
  week: weekOf,
  month: (day) => day.slice(0, 7),
}

/** The series of the last rate in each interval of `series`. */
export function lastOfEach(series: PairSeries, interval: Interval): PairSeries {
  const { dates, rows, rates } = series
  const spanAt = (index: number): string | number => SPAN_OF[interval](dayAt(series, index))
  const isLast = (_: number, index: number): boolean =>
    index === rates.length - 1 || spanAt(index) !== spanAt(index + 1)
  return { dates, rows: rows.filter(isLast), rates: rates.filter(isLast) }
}

/** Weeks from the one of 29 December 1969, a Monday, to that of `day`. */
function weekOf(day: Day): number {
  return Math.floor((toInstant(day) / DAY_MS + 3) / 7)
}
