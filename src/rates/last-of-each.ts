import { dayNumber, monthNumber } from './day.ts'
import type { Day } from './day.ts'
import type { Interval } from './interval.ts'
import type { PairSeries } from './pair-series.ts'

const SPAN_OF: Record<Interval, (day: Day) => number> = {
  day: dayNumber,
  // Day 0 was a Thursday.
  week: (day) => Math.floor((dayNumber(day) + 3) / 7),
  month: monthNumber,
}

/** Returns the last rate of each interval of `series`. */
export function lastOfEach(series: PairSeries, interval: Interval): PairSeries {
  if (interval === 'day') return series
  const spanOf = SPAN_OF[interval]
  const { dates } = series
  const rows = new Uint32Array(series.rows.length)
  const rates = new Float64Array(series.rates.length)
  let [count, current] = [0, NaN]
  for (let index = 0; index < series.rows.length; index += 1) {
    const row = series.rows[index] ?? 0
    const span = spanOf(dates[row] ?? '')
    if (span !== current) count += 1
    current = span
    // The last rate of an interval overwrites the others.
    rows[count - 1] = row
    rates[count - 1] = series.rates[index] ?? NaN
  }
  return { dates, rows: rows.subarray(0, count), rates: rates.subarray(0, count) }
}
