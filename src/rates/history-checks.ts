import { DAY_MS, toInstant } from './day.ts'
import type { Day } from './day.ts'
import { rowsOf, withoutGaps } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import {
  MAX_CONFIRMING_MOVE,
  countManyMoved,
  findImplausibleMajors,
  isDoubtfulMove,
  moveBetween,
} from './plausibility.ts'
import { RejectedError } from './rejected-error.ts'
import type { Slices } from './slices.ts'
import { findWithdrawn } from './withdrawn.ts'

/** Rates that are further apart are not compared: the Icelandic króna came back after nine years. */
const MAX_GAP_DAYS = 31
const MAX_GAP_MS = MAX_GAP_DAYS * DAY_MS

/** A day that lacks a larger share of the currencies is incomplete; up to three may end at once, in however small a market. */
const MAX_SHARE_LACKING = 0.2
const MIN_MANY_LACKING = 4

/** A rate that moved by no larger factor is doubtful in no currency. */
const MAX_CALM_MOVE = 1.02

/** The end of a currency is reported on one of the newest days only. */
const NEW_DAYS = 7

/** Five years of days are compared at once; of more, this many before each pause, in a few ms. */
const DAYS_AT_ONCE = 2_000
const DAYS_PER_SLICE = 1_000

/** What the sanity checks of reference rates compare. */
export interface HistoryToCheck {
  /** `added` on top of `held`, rate by rate. */
  merged: MarketHistory
  /** The days of an answer, or of a store. */
  added: MarketHistory
  /** Days that were accepted before. */
  previous: MarketHistory | undefined
  /** Whether another source has about the same `rate` of `code` on `date` (default never). */
  isAgreed?(date: Day, code: string, rate: number): boolean
}

/** Reference rates without those that are doubtful. */
export interface CheckedHistory {
  history: MarketHistory
  /** The days and rates that are held back: `2026-11-19`, `2026-11-19 USD`. */
  quarantined: string[]
  /** Currencies that one of the newest days lacks, unless they are withdrawn: `2022-03-02 RUB`. */
  lost: string[]
}

/**
 * Compares each day of `added` with the days before it. A rate that moved too far (see `isDoubtfulMove`) is accepted where
 * the next published day or another source confirms it, or it was held already. A day is doubtful as a whole where many
 * rates moved at once, more than a fifth of the currencies are absent or the major ones are implausible; the next published
 * day confirms it when it resembles that day. What is not confirmed stays as it is in `held`, where it may be absent.
 *
 * @throws {RejectedError} where most days contradict those of `held`, or, without `held`, most are doubtful as a whole
 */
export function* checkHistory(days: HistoryToCheck): Slices<CheckedHistory> {
  const walk = startWalk(days)
  const isLong = walk.dates.length - walk.first > DAYS_AT_ONCE
  for (let row = walk.first; row < walk.dates.length; row += 1) {
    if (isLong && row % DAYS_PER_SLICE === 0) yield
    if (isIn(walk.addedRows, row)) checkDay(walk, row)
    remember(walk, row)
  }
  if (isLong) yield
  const { checked, doubtful, quarantined, lost } = walk
  if (doubtful > checked / 2) {
    const why = days.previous ? 'contradict those held' : 'are implausible'
    throw new RejectedError(`${doubtful} of ${checked} days ${why}`)
  }
  const { base, dates, columns } = walk
  const accepted = new Map(columns.map((column) => [column.code, column.accepted]))
  return { history: withoutGaps({ base, dates, columns: accepted }), quarantined, lost }
}

/** One currency while its days are compared. */
interface Column {
  code: string
  added: Float64Array | undefined
  previous: Float64Array | undefined
  /** The rates of all days, of which those that are not accepted are taken out. */
  accepted: Float64Array
  /** The row of the rate that was accepted last, or -1. */
  lastRow: number
  /** Whether a rate of the answer contradicts one that is held, so that others of the answer confirm nothing. */
  isContradicted: boolean
}

/** The days while they are compared, one after the other. Rows are those of `dates`. */
interface Walk extends Omit<CheckedHistory, 'history'> {
  base: string
  dates: readonly Day[]
  /** The first row that is looked at, and the instants of that and all after it, in ms since the Unix epoch. */
  first: number
  instants: Float64Array
  columns: readonly Column[]
  byCode: ReadonlyMap<string, Column>
  /** The row of each day among the added and the held ones, or -1. */
  addedRows: Int32Array
  previousRows: Int32Array
  /** The newest day with an accepted rate, or -1. */
  previous: number
  isAgreed: NonNullable<HistoryToCheck['isAgreed']>
  /** Whether only days that are held count as checked, or all. */
  isUpdate: boolean
  /** How many days were checked, and how many of them are doubtful as a whole. */
  checked: number
  doubtful: number
}

function startWalk({ merged, added, previous, isAgreed = () => false }: HistoryToCheck): Walk {
  const { base, dates } = merged
  const [firstAdded] = rowsOf(merged, added.dates[0] ?? '', '')
  const first = Math.max(0, firstAdded - MAX_GAP_DAYS)
  const columns = [...merged.columns].map(([code, rates]) => ({
    code,
    added: added.columns.get(code),
    previous: previous?.columns.get(code),
    accepted: rates.slice(),
    lastRow: -1,
    isContradicted: false,
  }))
  return {
    base,
    dates,
    first,
    instants: Float64Array.from(dates, (date, row) => (row < first ? NaN : toInstant(date))),
    columns,
    byCode: new Map(columns.map((column) => [column.code, column])),
    addedRows: rowsIn(added, merged, first),
    previousRows: rowsIn(previous, merged, first),
    previous: -1,
    isAgreed,
    isUpdate: previous !== undefined,
    checked: 0,
    doubtful: 0,
    quarantined: [],
    lost: [],
  }
}

/** Where each day of `merged` from the row `first` on is in `history`, or -1. */
function rowsIn(
  history: MarketHistory | undefined,
  merged: MarketHistory,
  first: number,
): Int32Array {
  const rows = new Int32Array(merged.dates.length).fill(-1)
  if (!history) return rows
  let [found] = rowsOf(history, merged.dates[first] ?? '', '')
  for (let row = first; row < rows.length; row += 1) {
    if (history.dates[found] !== merged.dates[row]) continue
    rows[row] = found
    found += 1
  }
  return rows
}

function isIn(rows: Int32Array, row: number): boolean {
  return (rows[row] ?? -1) >= 0
}

function addedRate({ addedRows }: Walk, { added }: Column, row: number): number {
  return added?.[addedRows[row] ?? -1] ?? NaN
}

function previousRate({ previousRows }: Walk, { previous }: Column, row: number): number {
  return previous?.[previousRows[row] ?? -1] ?? NaN
}

/** The rate that was accepted last before `row`; NaN where it is too old. */
function lastRate({ instants }: Walk, { accepted, lastRow }: Column, row: number): number {
  const gap = (instants[row] ?? NaN) - (instants[lastRow] ?? NaN)
  return gap <= MAX_GAP_MS ? (accepted[lastRow] ?? NaN) : NaN
}

/** The next day of the answer after `row`, or -1. */
function nextAdded({ addedRows }: Walk, row: number): number {
  let next = row + 1
  while (next < addedRows.length && !isIn(addedRows, next)) next += 1
  return next < addedRows.length ? next : -1
}

/** Compares the days after `row` with what is accepted of it. */
function remember(walk: Walk, row: number): void {
  for (const column of walk.columns) {
    if (Number.isNaN(column.accepted[row])) continue
    column.lastRow = row
    walk.previous = row
  }
}

/** An added day beside those before it. */
interface Comparison {
  /** How far each rate moved. */
  moves: number[]
  /** Currencies whose rates moved too far. */
  doubtful: Column[]
  /** Currencies with nothing to compare their rates with. */
  unknown: Column[]
  /** Currencies that are absent, and how many there are with them. */
  lacking: Column[]
  expected: number
}

function compareDay(walk: Walk, row: number): Comparison {
  const day: Comparison = { moves: [], doubtful: [], unknown: [], lacking: [], expected: 0 }
  const date = walk.dates[row] ?? ''
  for (const column of walk.columns) {
    const rate = addedRate(walk, column, row)
    const previous = previousRate(walk, column, row)
    if (Number.isNaN(rate)) {
      if (!isExpectedOn(walk, column, row, previous)) continue
      day.expected += 1
      day.lacking.push(column)
      continue
    }
    day.expected += 1
    const fromLast = moveBetween(rate, lastRate(walk, column, row))
    // Nearly always, and four times as fast as what follows.
    if (fromLast <= MAX_CALM_MOVE) {
      day.moves.push(fromLast)
      continue
    }
    const fromHeld = moveBetween(rate, previous)
    // A rate that is held already may be a real move, or a mistake that is corrected now.
    const move = fromHeld < fromLast || Number.isNaN(fromLast) ? fromHeld : fromLast
    if (Number.isNaN(move)) day.unknown.push(column)
    else if (!isDoubtfulMove(column.code, move)) day.moves.push(move)
    else if (walk.isAgreed(date, column.code, rate)) day.moves.push(1)
    else {
      day.moves.push(move)
      day.doubtful.push(column)
    }
  }
  return day
}

/** Whether an absent currency is held for the day of `row` or, where no day is held, the day before has it. */
function isExpectedOn(walk: Walk, column: Column, row: number, previous: number): boolean {
  if (isIn(walk.previousRows, row)) return !Number.isNaN(previous)
  if (column.lastRow < 0 || column.lastRow !== walk.previous) return false
  const withdrawal = findWithdrawn(column.code)
  return !withdrawal || withdrawal.withdrawnAt > (walk.dates[row] ?? '')
}

/** Takes what is doubtful out of an added day. */
function checkDay(walk: Walk, row: number): void {
  const day = compareDay(walk, row)
  const isHeld = isIn(walk.previousRows, row)
  const isDoubtful =
    countManyMoved(day.moves) !== undefined ||
    isManyLacking(day.lacking.length, day.expected) ||
    (day.unknown.length > day.moves.length && implausibleMajors(walk, row).isMany)
  const isRefused = isDoubtful && (isHeld || !isConfirmedDay(walk, row))
  if (isHeld || !walk.isUpdate) {
    walk.checked += 1
    if (isRefused) walk.doubtful += 1
  }
  if (isRefused) return quarantineDay(walk, row)
  for (const column of day.doubtful) {
    if (!isConfirmedRate(walk, column, row)) quarantineRate(walk, column, row)
  }
  for (const column of day.unknown) {
    if (!isPlausibleRate(walk, column, row) || isContradictedByNext(walk, column, row)) {
      quarantineRate(walk, column, row)
    }
  }
  if (isHeld || row < walk.dates.length - NEW_DAYS) return
  for (const { code } of day.lacking) walk.lost.push(`${walk.dates[row] ?? ''} ${code}`)
}

function isManyLacking(count: number, expected: number): boolean {
  return count >= MIN_MANY_LACKING && count > MAX_SHARE_LACKING * expected
}

/** The major currencies that are implausible on the day of `row`, with the last rates of those that it lacks. */
function implausibleMajors(walk: Walk, row: number): ReturnType<typeof findImplausibleMajors> {
  const { base, byCode } = walk
  const rateOf = (code: string): unknown => {
    const column = byCode.get(code)
    const rate = column && addedRate(walk, column, row)
    return column && Number.isNaN(rate) ? lastRate(walk, column, row) : rate
  }
  return findImplausibleMajors({ base, rateOf })
}

function isPlausibleRate(walk: Walk, column: Column, row: number): boolean {
  // Against the dollar, a wrong dollar shows as a wrong base.
  const shown = column.code === 'USD' ? walk.base : column.code
  return !implausibleMajors(walk, row).codes.includes(shown)
}

/** Whether the next published day resembles the day of `row`, which is plausible. */
function isConfirmedDay(walk: Walk, row: number): boolean {
  const next = nextAdded(walk, row)
  if (next < 0 || implausibleMajors(walk, row).isMany) return false
  const moves: number[] = []
  let [lacking, expected] = [0, 0]
  for (const column of walk.columns) {
    const [rate, later] = [addedRate(walk, column, row), addedRate(walk, column, next)]
    if (!Number.isNaN(later)) expected += 1
    if (!Number.isNaN(later) && Number.isNaN(rate)) lacking += 1
    const move = moveBetween(rate, later)
    if (!Number.isNaN(move)) moves.push(move)
  }
  return countManyMoved(moves) === undefined && !isManyLacking(lacking, expected)
}

/** Whether the next rate of the currency confirms that on the day of `row`, and nothing contradicts it. */
function isConfirmedRate(walk: Walk, column: Column, row: number): boolean {
  const rate = addedRate(walk, column, row)
  const isHeld = !Number.isNaN(previousRate(walk, column, row))
  if (isHeld || column.isContradicted) return false
  const move = moveBetween(rate, nextRate(walk, column, row))
  return move <= MAX_CONFIRMING_MOVE && isPlausibleRate(walk, column, row)
}

/** Whether the next rate of the currency is far from that on the day of `row`, before which there is none. */
function isContradictedByNext(walk: Walk, column: Column, row: number): boolean {
  const move = moveBetween(addedRate(walk, column, row), nextRate(walk, column, row))
  return isDoubtfulMove(column.code, move)
}

/** The next rate of the currency in the answer after `row`; NaN where there is none, or it is too late. */
function nextRate(walk: Walk, column: Column, row: number): number {
  const until = (walk.instants[row] ?? NaN) + MAX_GAP_MS
  for (let next = row + 1; (walk.instants[next] ?? Infinity) <= until; next += 1) {
    const rate = addedRate(walk, column, next)
    if (!Number.isNaN(rate)) return rate
  }
  return NaN
}

/** Leaves the whole day as it was. */
function quarantineDay(walk: Walk, row: number): void {
  for (const column of walk.columns) column.accepted[row] = previousRate(walk, column, row)
  walk.quarantined.push(walk.dates[row] ?? '')
}

/** Leaves one rate as it was. */
function quarantineRate(walk: Walk, column: Column, row: number): void {
  const previous = previousRate(walk, column, row)
  column.accepted[row] = previous
  if (!Number.isNaN(previous)) column.isContradicted = true
  walk.quarantined.push(`${walk.dates[row] ?? ''} ${column.code}`)
}
