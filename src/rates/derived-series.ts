import { mean } from './arithmetic.ts'
import { DAY_MS, addDays, dayNumber, toDay } from './dates.ts'
import type { Day, Interval } from './dates.ts'
import { rowsOf } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import { SPAN_OF, columnOf, pairSeries } from './series.ts'
import type { IntervalValue, Pair, PairSeries } from './series.ts'

/** Returns the index of the value of the rates from the index `first` to before `end`. */
type Choose = (rates: Float64Array, first: number, end: number) => number

const lastOf: Choose = (_rates, _first, end) => end - 1

/** For each value, the index of the rate whose day it has. */
const CHOICE_OF: Record<IntervalValue, Choose> = {
  last: lastOf,
  average: lastOf,
  open: (_rates, first) => first,
  high: (rates, first, end) => firstExtreme(rates, first, end, 1),
  low: (rates, first, end) => firstExtreme(rates, first, end, -1),
}

/** Returns the index of the first highest rate, or of the first lowest if `sign` is -1. */
function firstExtreme(rates: Float64Array, first: number, end: number, sign: number): number {
  let found = first
  for (let index = first + 1; index < end; index += 1) {
    if (sign * (rates[index] ?? NaN) > sign * (rates[found] ?? NaN)) found = index
  }
  return found
}

/**
 * Returns one rate of each interval of `series`. The average is the exact decimal mean, rounded to 10 significant digits, on
 * the last day of the interval; an extreme is on the first day that reached it.
 */
export function valueOfEach(
  series: PairSeries,
  interval: Interval,
  value: IntervalValue,
): PairSeries {
  const spanOf = SPAN_OF[interval]
  const choose = CHOICE_OF[value]
  const { dates } = series
  const rows: number[] = []
  const rates: number[] = []
  let first = 0
  while (first < series.rows.length) {
    const span = spanOf(dates[series.rows[first] ?? NaN] ?? '')
    let end = first + 1
    while (end < series.rows.length && spanOf(dates[series.rows[end] ?? NaN] ?? '') === span) {
      end += 1
    }
    const chosen = choose(series.rates, first, end)
    rows.push(series.rows[chosen] ?? NaN)
    const isMean = value === 'average'
    rates.push(isMean ? mean(series.rates.subarray(first, end)) : (series.rates[chosen] ?? NaN))
    first = end
  }
  return { dates, rows: Uint32Array.from(rows), rates: Float64Array.from(rates) }
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
  const { start: firstDay, dates, rows: rowOn } = calendarOf(history, daysBack)
  const first = Math.max(0, dayNumber(start) - firstDay)
  const last = Math.min(dates.length, dayNumber(end) - firstDay + 1)
  const size = Math.max(0, last - first)
  const rows = new Uint32Array(size)
  const rates = new Float64Array(size)
  const filled = new Uint8Array(size)
  let [count, at] = [0, 0]
  for (let index = first; index < last; index += 1) {
    const row = rowOn[index] ?? NO_ROW
    if (row === NO_ROW) continue
    while ((published.rows[at] ?? NO_ROW) < row) at += 1
    if (published.rows[at] !== row) continue
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
  }
}

function since({ dates, rows, rates }: PairSeries, start: Day): PairSeries | undefined {
  const first = rows.findIndex((row) => (dates[row] ?? '') >= start)
  return first === -1
    ? undefined
    : { dates, rows: rows.subarray(first), rates: rates.subarray(first) }
}
