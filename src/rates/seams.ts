import { MAX_GAP_DAYS, daysFrom } from './calendar.ts'
import type { Publication } from './calendar.ts'
import { redenominatedBy } from './currency-code.ts'
import { dayNumber } from './dates.ts'
import type { Calendar, Day, DaySpan } from './dates.ts'
import type { MarketHistory } from './market-history.ts'
import { isPowerOfTen } from './moves.ts'
import { moveBetween } from './rate-table.ts'

/**
 * Returns the ranges of days that were due by the calendar and are missing: longer ones than any closure, and at the end those of
 * more than `late` days.
 */
export function gapsIn(
  dates: readonly Day[],
  { start, end }: DaySpan,
  { isPublished }: Calendar,
  { frequency, late }: { frequency: Publication['frequency']; late: number },
): DaySpan[] {
  const known = new Set(dates)
  const gaps: DaySpan[] = []
  let missing: Day[] = []
  const close = (isEnd: boolean): void => {
    const [first, last] = [missing[0], missing.at(-1)]
    if (first === undefined || last === undefined) return
    const isLong = dayNumber(last) - dayNumber(first) >= MAX_GAP_DAYS[frequency]
    if (isLong || (isEnd && missing.length > late)) gaps.push({ start: first, end: last })
    missing = []
  }
  for (const day of daysFrom(start, end)) {
    if (known.has(day)) close(false)
    else if (isPublished(day)) missing.push(day)
  }
  close(true)
  return gaps
}

/** Rates of a currency in one calendar year. */
export interface YearOfCode {
  code: string
  year: string
}

/** What is known of the days around a piece. */
export interface Neighbours {
  before: MarketHistory | undefined
  after: MarketHistory | undefined
  newest: MarketHistory
}

export interface Disagreements {
  /** Years that contradict what they can be compared with. */
  doubted: YearOfCode[]
  /** Years far from the newest rates, which the missing neighbours may confirm. */
  unconfirmed: YearOfCode[]
}

/** Rates of a currency change by less over a year's end; a wrong unit is further off. */
const MAX_FACTOR = 3
const MAX_FACTOR_OF_A_YEAR = 8

/**
 * Compares the first and the last rate of each year and currency with the nearest rates before and after it, and with the
 * newest one; rates within a factor of three agree, more than `maxDistance` days apart they may differ by eight. A year is doubted where neither edge
 * agrees with anything, or one is a power of ten away from its neighbour and far from the newest rate, as a wrong unit is. A currency that
 * really moved as far agrees at its other edge.
 */
export function findDisagreements(
  history: MarketHistory,
  { before, after, newest }: Neighbours,
  maxDistance: number,
): Disagreements {
  const found: Disagreements = { doubted: [], unconfirmed: [] }
  for (const [code, column] of history.columns) {
    const quoted = { code, isPriced: history.priced?.has(code) === true }
    const years = yearsOf(history.dates, column)
    const now = edgeOf(newest, code, 1)
    let isNextDoubted = false
    for (const [index, { first, last }] of [...years.entries()].toReversed()) {
      const previous = years[index - 1]?.last ?? edgeOf(before, code, -1)
      const next = years[index + 1]?.first ?? edgeOf(after, code, 1)
      const fromPrevious = moveOver(quoted, previous, first, maxDistance)
      const toNext = moveOver(quoted, last, next, maxDistance)
      const toNow = (rate: DatedRate): number => moveOver(quoted, rate, now, Infinity)
      const isNear = (one: DatedRate | undefined, other: DatedRate | undefined): boolean =>
        one !== undefined && other !== undefined && daysBetween(one, other) <= maxDistance
      const isAtNewest = index === years.length - 1 && after === newest
      const edges: Edge[] = [
        edge(fromPrevious, toNow(first), isNear(previous, first)),
        edge(isNextDoubted ? NaN : toNext, toNow(last), isNear(last, next)),
      ]
      const which = { code, year: first.date.slice(0, 4) }
      const isAnyGood = edges.includes('good')
      isNextDoubted =
        edges.includes('unit') ||
        (!isAnyGood && edges.includes('bad')) ||
        // The newest days are of the same time, and the year after has the same mistake.
        (isAtNewest && toNext > MAX_FACTOR) ||
        (isNextDoubted && toNext <= MAX_FACTOR && edges[1] !== 'good')
      if (isNextDoubted) found.doubted.push(which)
      else if (edges.includes('unconfirmed')) found.unconfirmed.push(which)
    }
  }
  return found
}

/** `unit` is a power of ten away from its neighbour; `unconfirmed` is only far from the newest rate. */
type Edge = 'good' | 'bad' | 'unit' | 'unconfirmed' | 'unknown'

function edge(fromNeighbour: number, fromNewest: number, isNear: boolean): Edge {
  if (fromNeighbour <= MAX_FACTOR || fromNewest <= MAX_FACTOR) return 'good'
  if (Number.isNaN(fromNeighbour)) return Number.isNaN(fromNewest) ? 'unknown' : 'unconfirmed'
  const isUnit = isNear && !Number.isNaN(fromNewest) && isPowerOfTen(fromNeighbour)
  return isUnit ? 'unit' : 'bad'
}

/**
 * Compares the table of a day with the newest rates, and where these are more than three times away, with the series of the
 * currency, which is undefined while it is not loaded; a year that is missing in it is doubted.
 */
export function findDisagreementsOfTable(
  { dates, columns, priced }: MarketHistory,
  newest: MarketHistory,
  seriesOf: (code: string) => MarketHistory | undefined,
): Disagreements {
  const found: Disagreements = { doubted: [], unconfirmed: [] }
  const [date] = dates
  for (const [code, [rate = NaN]] of date === undefined ? [] : columns) {
    const current = edgeOf(newest, code, 1)
    const quoted = { code, isPriced: priced?.has(code) === true }
    if (!(moveOver(quoted, { date: date ?? '', rate }, current, Infinity) > MAX_FACTOR)) continue
    const series = seriesOf(code)
    const row = series?.dates.indexOf(date ?? '') ?? -1
    const move = moveBetween(rate, series?.columns.get(code)?.[row] ?? NaN)
    const which = { code, year: (date ?? '').slice(0, 4) }
    if (!series) found.unconfirmed.push(which)
    else if (!(move <= MAX_FACTOR)) found.doubted.push(which)
  }
  return found
}

interface DatedRate {
  date: Day
  rate: number
}

function yearsOf(
  dates: readonly Day[],
  column: Float64Array,
): { first: DatedRate; last: DatedRate }[] {
  const years: { first: DatedRate; last: DatedRate }[] = []
  for (let row = 0; row < column.length; row += 1) {
    const rate = column[row] ?? NaN
    if (Number.isNaN(rate)) continue
    const dated = { date: dates[row] ?? '', rate }
    const year = years.at(-1)
    if (year?.first.date.slice(0, 4) === dated.date.slice(0, 4)) year.last = dated
    else years.push({ first: dated, last: dated })
  }
  return years
}

/** Returns the first rate of `code`, or for -1 the last one. */
function edgeOf(
  history: MarketHistory | undefined,
  code: string,
  edge: 1 | -1,
): DatedRate | undefined {
  const column = history?.columns.get(code)
  if (!history || !column) return undefined
  const isRate = (rate: number): boolean => !Number.isNaN(rate)
  const row = edge === 1 ? column.findIndex(isRate) : column.findLastIndex(isRate)
  return row < 0 ? undefined : { date: history.dates[row] ?? '', rate: column[row] ?? NaN }
}

/** Returns the factor between two rates; NaN if it says nothing: further apart, rates may really move as far. */
function moveOver(
  { code, isPriced }: { code: string; isPriced: boolean },
  earlier: DatedRate | undefined,
  later: DatedRate | undefined,
  maxDistance: number,
): number {
  if (!earlier || !later) return NaN
  const zeros = redenominatedBy(code, earlier.date, later.date)
  const expected = isPriced ? earlier.rate * zeros : earlier.rate / zeros
  const move = moveBetween(expected, later.rate)
  const isFar = daysBetween(earlier, later) > maxDistance
  return isFar && move > MAX_FACTOR && move <= MAX_FACTOR_OF_A_YEAR ? NaN : move
}

function daysBetween(earlier: DatedRate, later: DatedRate): number {
  return dayNumber(later.date) - dayNumber(earlier.date)
}

/** Returns a history without some years of currencies. */
export function withoutYears(history: MarketHistory, years: readonly YearOfCode[]): MarketHistory {
  if (years.length === 0) return history
  const columns = new Map(history.columns)
  for (const { code, year } of years) {
    const isIn = (row: number): boolean => history.dates[row]?.startsWith(year) === true
    const left = columns.get(code)?.map((rate, row) => (isIn(row) ? NaN : rate))
    if (left) columns.set(code, left)
  }
  return { ...history, columns }
}
