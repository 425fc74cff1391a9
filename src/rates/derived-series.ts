import { mean } from './arithmetic.ts'
import { DAY_MS, addDays, dayNumber, toDay } from './dates.ts'
import type { Day, Interval } from './dates.ts'
import { rowsOf } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import { SPAN_OF, columnOf, pairSeries } from './series.ts'
import type { IntervalValue, Pair, PairSeries } from './series.ts'

/**
 * Returns one rate of each interval of `series`, all of them for days. The average is the exact decimal mean, rounded to 10
 * significant digits, on the last day of the interval; an extreme is on the first day that reached it.
 */
export function valueOfEach(
  series: PairSeries,
  interval: Interval,
  value: IntervalValue,
): PairSeries {
  if (interval === 'day') return series
  const spanOf = SPAN_OF[interval]
  const { dates } = series
  const rows = new Uint32Array(series.rows.length)
  const rates = new Float64Array(series.rates.length)
  let [count, first, current] = [0, 0, NaN]
  for (let end = 0; end <= series.rows.length; end += 1) {
    // The day after the last one is in no interval.
    const span = end < series.rows.length ? spanOf(dates[series.rows[end] ?? NaN] ?? '') : NaN
    if (span === current) continue
    if (end > 0) {
      const all = series.rates.subarray(first, end)
      const chosen = indexOf(value, all)
      rows[count] = series.rows[first + chosen] ?? NaN
      rates[count] = value === 'average' ? mean(all) : (all[chosen] ?? NaN)
      count += 1
    }
    first = end
    current = span
  }
  return { dates, rows: rows.subarray(0, count), rates: rates.subarray(0, count) }
}

/** Returns the index of the rate whose day a value has. */
function indexOf(value: IntervalValue, rates: Float64Array): number {
  if (value === 'open') return 0
  if (value === 'high') return rates.indexOf(Math.max(...rates))
  if (value === 'low') return rates.indexOf(Math.min(...rates))
  return rates.length - 1
}

/** Returns whether a day of the window quotes both currencies; faster than their rates. */
export function hasRates(
  history: MarketHistory,
  pair: Pair,
  window: { start: Day; end: Day },
): boolean {
  const [first, end] = rowsOf(history, window.start, window.end)
  const columns = [columnOf(history, pair.from), columnOf(history, pair.to)]
  for (let row = first; row < end; row += 1) {
    if (columns.every((column) => !column || !Number.isNaN(column[row] ?? NaN))) return true
  }
  return false
}

interface Calendar {
  start: number
  dates: Day[]
  /** By the indexes of `dates`, the row of the last published day; none is more than `daysBack` days older. */
  rows: Uint32Array
}

/** By the published days of the market. */
const calendars = new WeakMap<readonly Day[], Calendar>()

const NO_ROW = 0xffff_ffff

function calendarOf({ dates: published }: MarketHistory, daysBack: number): Calendar {
  const known = calendars.get(published)
  if (known) return known
  const start = dayNumber(published[0] ?? '')
  const length = dayNumber(published.at(-1) ?? '') - start + 1 + daysBack
  const dates = Array.from({ length }, (_, index) => toDay((start + index) * DAY_MS))
  const rows = new Uint32Array(length).fill(NO_ROW)
  for (const [row, day] of published.entries()) {
    const index = dayNumber(day) - start
    rows.fill(row, index, index + daysBack + 1)
  }
  const calendar = { start, dates, rows }
  calendars.set(published, calendar)
  return calendar
}

/**
 * Returns the rates of a pair on every calendar day from `start` to `end` (inclusive): those of the last published day on or
 * before it, at most `daysBack` days earlier, if that quotes both currencies. `daysBack` must be the same in every call for one history.
 */
export function filledSeries(
  history: MarketHistory,
  pair: Pair,
  { start, end }: { start: Day; end: Day },
  daysBack: number,
): PairSeries {
  const published = pairSeries(history, pair, { start: addDays(start, -daysBack), end })
  const { start: dayZero, dates, rows: rowOn } = calendarOf(history, daysBack)
  const first = Math.max(0, dayNumber(start) - dayZero)
  const last = Math.min(dates.length, dayNumber(end) - dayZero + 1)
  const size = Math.max(0, last - first)
  const rows = new Uint32Array(size)
  const rates = new Float64Array(size)
  const filled = new Uint8Array(size)
  let [count, at] = [0, 0]
  let firstDay: Day | undefined
  for (let index = first; index < last; index += 1) {
    const row = rowOn[index] ?? NO_ROW
    if (row === NO_ROW) continue
    while ((published.rows[at] ?? NO_ROW) < row) at += 1
    if (published.rows[at] !== row) continue
    firstDay ??= history.dates[row]
    rows[count] = index
    rates[count] = published.rates[at] ?? NaN
    filled[count] = history.dates[row] === dates[index] ? 0 : 1
    count += 1
  }
  return {
    dates,
    rows: rows.subarray(0, count),
    rates: rates.subarray(0, count),
    filled: filled.subarray(0, count),
    published: since(published, start),
    since: firstDay,
  }
}

function since({ dates, rows, rates }: PairSeries, start: Day): PairSeries | undefined {
  const first = rows.findIndex((row) => (dates[row] ?? '') >= start)
  return first === -1
    ? undefined
    : { dates, rows: rows.subarray(first), rates: rates.subarray(first) }
}
