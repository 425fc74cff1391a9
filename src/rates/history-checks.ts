import type { Slices } from '../async.ts'
import type { Publication } from './calendar.ts'
import { findWithdrawal, redenominatedBy } from './currency-code.ts'
import { DAY_MS, toInstant } from './dates.ts'
import type { Day } from './dates.ts'
import { rowsOf, withoutGaps } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import {
  MAX_AGREEING_MOVE,
  MAX_CONFIRMING_MOVE,
  MAX_UNUSUAL_MOVE,
  MIN_COMPARED_MOVE,
  countManyMoved,
  findImplausibleMajors,
  isDoubtfulMove,
  publicationsToConfirm,
} from './moves.ts'
import { isOffPeg, pegDepth } from './pegs.ts'
import { moveBetween } from './rate-table.ts'
import { RejectedError } from './validate.ts'

/** Rates further apart are not compared: the Icelandic króna returned after nine years. */
const MAX_GAP_DAYS = { daily: 31, weekly: 31, monthly: 124, quarterly: 372 }

/** A day that lacks a larger share of the currencies is incomplete. Up to three may end at once, even in a small market. */
const MAX_SHARE_LACKING = 0.2
const MIN_MANY_LACKING = 4

const NEVER_DOUBTFUL_MOVE = 1.02

const DAYS_REPORTING_LOSSES = 7

/** Up to 2,000 days (more than five years) are compared without a pause; longer histories pause after each slice of a few ms. */
const DAYS_AT_ONCE = 2_000
const DAYS_PER_SLICE = 1_000

export interface HistoryToCheck {
  /** `previous` overwritten with `added`, rate by rate. */
  merged: MarketHistory
  added: MarketHistory
  previous: MarketHistory | undefined
  /** Default `daily`. */
  frequency?: Publication['frequency'] | undefined
  /** Whether a day may lack any currencies (default false). */
  mayLackRates?: boolean
  /** Returns the factor between `rate` and that of another source of about the same day, as `moveFromOthers` (default NaN). */
  moveFromOthers?(date: Day, code: string, rate: number): number
  /** Returns the factor between `rate` and the usual one, as `moveFromUsual` (default NaN). */
  moveFromUsual?(date: Day, code: string, rate: number): number
}

export interface CheckedHistory {
  history: MarketHistory
  /** Quarantined days and rates: `2026-11-19`, `2026-11-19 USD`. */
  quarantined: string[]
  /** Currencies that one of the newest days lacks, except for withdrawn ones: `2022-03-02 RUB`. */
  lost: string[]
}

/**
 * Compares each day of `added` with the days before it. A rate that moved too far, is off its official peg or, as the first of
 * its currency, far from the usual is accepted if enough published days in a row confirm it (see `publicationsToConfirm`) and no
 * other source contradicts it, or if another source confirms it or `previous` has it. A whole day is doubtful if many rates
 * moved at once, more than a fifth of the currencies are absent, or major currencies are implausible; a similar next day
 * confirms it. Unconfirmed days and rates keep their value in `previous`, or stay absent.
 *
 * @throws {RejectedError} if most days contradict those of `previous`, or, without `previous`, are doubtful as a whole
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
    const problem = days.previous ? 'contradict the stored ones' : 'are implausible'
    throw new RejectedError(`${doubtful} of ${checked} days ${problem}; expected at most half`)
  }
  const accepted = new Map(walk.columns.map((column) => [column.code, column.accepted]))
  const history = withoutGaps({ ...days.merged, columns: accepted })
  return { history, quarantined, lost }
}

interface Column {
  code: string
  added: Float64Array | undefined
  previous: Float64Array | undefined
  accepted: Float64Array
  lastAcceptedRow: number
  /** Row of the last rate before the next doubtful move, once it was needed. */
  levelEnd: number
  /** Whether an added rate contradicts a previous one: then no added rate can confirm another. */
  isContradicted: boolean
}

interface Walk extends Omit<CheckedHistory, 'history'> {
  base: string
  priced: ReadonlySet<string> | undefined
  derived: MarketHistory['derived']
  dates: readonly Day[]
  first: number
  instants: Float64Array
  columns: readonly Column[]
  /** Those of currencies with an official peg. */
  pegged: readonly Column[]
  byCode: ReadonlyMap<string, Column>
  addedRows: Int32Array
  previousRows: Int32Array
  newestAcceptedRow: number
  frequency: Publication['frequency']
  /** Whether whole days are compared: from month to month, many rates may move, and a correction has a day for itself. */
  isOften: boolean
  /** In ms. */
  maxGap: number
  mayLackRates: boolean
  moveFromOthers: NonNullable<HistoryToCheck['moveFromOthers']>
  moveFromUsual: NonNullable<HistoryToCheck['moveFromUsual']>
  /** Whether only previous days count as checked, or all days. */
  isUpdate: boolean
  checked: number
  doubtful: number
}

function startWalk({ merged, added, previous, ...others }: HistoryToCheck): Walk {
  const { frequency = 'daily', mayLackRates = false } = others
  const isOften = frequency === 'daily' || frequency === 'weekly'
  const { moveFromOthers = () => NaN, moveFromUsual = () => NaN } = others
  const { base, dates, priced, derived } = merged
  const [firstAdded] = rowsOf(merged, added.dates[0] ?? '', '')
  const first = Math.max(0, firstAdded - MAX_GAP_DAYS.daily)
  const columns = [...merged.columns].map(([code, rates]) => ({
    code,
    added: added.columns.get(code),
    previous: previous?.columns.get(code),
    accepted: rates.slice(),
    lastAcceptedRow: -1,
    levelEnd: -1,
    isContradicted: false,
  }))
  return {
    base,
    priced,
    derived,
    dates,
    first,
    instants: Float64Array.from(dates, (date, row) => (row < first ? NaN : toInstant(date))),
    columns,
    pegged: columns.filter(({ code }) => pegDepth(code) > 0),
    byCode: new Map(columns.map((column) => [column.code, column])),
    addedRows: rowsIn(added, merged, first),
    previousRows: rowsIn(previous, merged, first),
    newestAcceptedRow: -1,
    frequency,
    isOften,
    maxGap: MAX_GAP_DAYS[frequency] * DAY_MS,
    mayLackRates: mayLackRates || !isOften,
    moveFromOthers,
    moveFromUsual,
    isUpdate: previous !== undefined,
    checked: 0,
    doubtful: 0,
    quarantined: [],
    lost: [],
  }
}

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

/** NaN for a derived rate, which is not checked. */
function addedRate(walk: Walk, { added, code }: Column, row: number): number {
  return isDerived(walk, code, row) ? NaN : (added?.[walk.addedRows[row] ?? -1] ?? NaN)
}

function isDerived({ derived, dates }: Walk, code: string, row: number): boolean {
  return derived?.get(dates[row] ?? '')?.[code] !== undefined
}

function previousRate({ previousRows }: Walk, { previous }: Column, row: number): number {
  return previous?.[previousRows[row] ?? -1] ?? NaN
}

/** In the units of the day of `row`. */
function lastRate(walk: Walk, column: Column, row: number): number {
  const { instants, dates, priced } = walk
  const { code, accepted, lastAcceptedRow } = column
  const gap = (instants[row] ?? NaN) - (instants[lastAcceptedRow] ?? NaN)
  if (!(gap <= walk.maxGap)) return NaN
  const step = redenominatedBy(code, dates[lastAcceptedRow] ?? '', dates[row] ?? '')
  return (accepted[lastAcceptedRow] ?? NaN) * (priced?.has(code) ? step : 1 / step)
}

function nextAdded({ addedRows }: Walk, row: number): number {
  let next = row + 1
  while (next < addedRows.length && !isIn(addedRows, next)) next += 1
  return next < addedRows.length ? next : -1
}

function remember(walk: Walk, row: number): void {
  for (const column of walk.columns) {
    if (Number.isNaN(column.accepted[row]) || isDerived(walk, column.code, row)) continue
    column.lastAcceptedRow = row
    walk.newestAcceptedRow = row
  }
}

interface Comparison {
  moves: number[]
  /** The columns whose rates are doubtful, and how many publications in a row confirm them. */
  doubtful: Map<Column, number>
  unknown: Column[]
  lacking: Column[]
  expected: number
}

function compareDay(walk: Walk, row: number): Comparison {
  const day: Comparison = { moves: [], doubtful: new Map(), unknown: [], lacking: [], expected: 0 }
  for (const column of walk.columns) {
    const rate = addedRate(walk, column, row)
    const previous = previousRate(walk, column, row)
    if (Number.isNaN(rate)) {
      if (walk.mayLackRates || !isExpectedOn(walk, column, row, previous)) continue
      day.expected += 1
      day.lacking.push(column)
      continue
    }
    day.expected += 1
    const fromLast = moveBetween(rate, lastRate(walk, column, row))
    // Nearly always; four times as fast as the code below.
    if (fromLast <= NEVER_DOUBTFUL_MOVE) {
      day.moves.push(fromLast)
      continue
    }
    const fromPrevious = moveBetween(rate, previous)
    // A previous rate of the same day may be a real move, or a mistake that is corrected now.
    const move = fromPrevious < fromLast || Number.isNaN(fromLast) ? fromPrevious : fromLast
    const needed = publicationsNeeded(walk, column, row, move)
    const isConfirmed = needed > 1 && moveFromOthers(walk, column, row) <= MAX_AGREEING_MOVE
    if (needed > 1 && !isConfirmed) day.doubtful.set(column, needed)
    if (Number.isNaN(move)) day.unknown.push(column)
    else day.moves.push(isConfirmed ? 1 : move)
  }
  for (const column of walk.pegged) {
    const rate = addedRate(walk, column, row)
    const isKnown = Number.isNaN(rate) || rate === previousRate(walk, column, row)
    if (isKnown || day.doubtful.has(column)) continue
    const isOff = isOffPegOn(walk, column, row, day.doubtful)
    if (!isOff || isOffPegOn(walk, column, column.lastAcceptedRow)) continue
    if (moveFromOthers(walk, column, row) <= MAX_AGREEING_MOVE) continue
    day.doubtful.set(column, publicationsToConfirm(column.code, Infinity, walk.frequency))
  }
  return day
}

/** Returns how many publications in a row must have about a rate that moved by `move`: 1 if it is not doubtful. */
function publicationsNeeded(walk: Walk, column: Column, row: number, move: number): number {
  const { code } = column
  if (!Number.isNaN(move)) return publicationsToConfirm(code, move, walk.frequency)
  const rate = unitsOf(walk, column, addedRate(walk, column, row))
  const unusual = walk.moveFromUsual(walk.dates[row] ?? '', code, rate)
  return unusual > MAX_UNUSUAL_MOVE ? publicationsToConfirm(code, unusual, walk.frequency) : 1
}

/** Compares with the last rate of an anchor that is doubtful itself. */
function isOffPegOn(
  walk: Walk,
  { code }: Column,
  row: number,
  doubtful?: Comparison['doubtful'],
): boolean {
  return isOffPeg(code, walk.dates[row] ?? '', (each) => {
    const column = walk.byCode.get(each)
    if (!column) return each === walk.base ? 1 : undefined
    if (isDerived(walk, each, row)) return undefined
    const quote = doubtful?.has(column) ? lastRate(walk, column, row) : column.accepted[row]
    return unitsOf(walk, column, quote ?? NaN)
  })
}

/** Compares the rate that no check has replaced yet. */
function moveFromOthers(walk: Walk, column: Column, row: number): number {
  const rate = unitsOf(walk, column, column.accepted[row] ?? NaN)
  return walk.moveFromOthers(walk.dates[row] ?? '', column.code, rate)
}

function unitsOf({ priced }: Walk, { code }: Column, quote: number): number {
  return priced?.has(code) ? 1 / quote : quote
}

/** Whether the previous version of the day, or, without one, the day before has the absent currency. */
function isExpectedOn(walk: Walk, column: Column, row: number, previous: number): boolean {
  if (isDerived(walk, column.code, row)) return false
  if (isIn(walk.previousRows, row)) return !Number.isNaN(previous)
  if (column.lastAcceptedRow < 0 || column.lastAcceptedRow !== walk.newestAcceptedRow) return false
  const withdrawal = findWithdrawal(column.code)
  return !withdrawal || withdrawal.withdrawnAt > (walk.dates[row] ?? '')
}

function checkDay(walk: Walk, row: number): void {
  const day = compareDay(walk, row)
  const isRevision = isIn(walk.previousRows, row)
  const isDoubtful =
    isManyMoved(walk, day.moves) ||
    isManyLacking(day.lacking.length, day.expected) ||
    (day.unknown.length > day.moves.length && implausibleMajors(walk, row).isMany)
  const isRejected = isDoubtful && (isRevision || !isConfirmedDay(walk, row))
  if (isRevision || !walk.isUpdate) {
    walk.checked += 1
    if (isRejected) walk.doubtful += 1
  }
  if (isRejected) return quarantineDay(walk, row)
  for (const [column, needed] of day.doubtful) {
    if (!isConfirmedRate(walk, column, row, needed)) quarantineRate(walk, column, row)
  }
  for (const column of day.unknown) {
    if (day.doubtful.has(column)) continue
    const isDoubtful =
      !isPlausibleRate(walk, column, row) ||
      isContradictedByNext(walk, column, row) ||
      isContradictedLater(walk, column, row)
    if (isDoubtful) quarantineRate(walk, column, row)
  }
  if (isRevision || row < walk.dates.length - DAYS_REPORTING_LOSSES) return
  for (const { code } of day.lacking) walk.lost.push(`${walk.dates[row] ?? ''} ${code}`)
}

function isManyMoved({ isOften }: Walk, moves: readonly number[]): boolean {
  return isOften && countManyMoved(moves) !== undefined
}

function isManyLacking(count: number, expected: number): boolean {
  return count >= MIN_MANY_LACKING && count > MAX_SHARE_LACKING * expected
}

function implausibleMajors(walk: Walk, row: number): ReturnType<typeof findImplausibleMajors> {
  const { base, byCode } = walk
  const rateOf = (code: string): unknown => {
    const column = isDerived(walk, code, row) ? undefined : byCode.get(code)
    const added = column && addedRate(walk, column, row)
    const rate = column && Number.isNaN(added) ? lastRate(walk, column, row) : added
    return column && rate !== undefined ? unitsOf(walk, column, rate) : rate
  }
  return findImplausibleMajors({ base, rateOf })
}

function isPlausibleRate(walk: Walk, column: Column, row: number): boolean {
  // The check is against the dollar, so a wrong dollar rate appears as a wrong base.
  const code = column.code === 'USD' ? walk.base : column.code
  return !implausibleMajors(walk, row).codes.includes(code)
}

function isConfirmedDay(walk: Walk, row: number): boolean {
  const next = nextAdded(walk, row)
  if (next < 0 || implausibleMajors(walk, row).isMany) return false
  const moves: number[] = []
  let [lacking, expected] = [0, 0]
  for (const column of walk.columns) {
    const [rate, later] = [addedRate(walk, column, row), addedRate(walk, column, next)]
    if (!Number.isNaN(later)) expected += 1
    if (!walk.mayLackRates && !Number.isNaN(later) && Number.isNaN(rate)) lacking += 1
    const move = moveBetween(rate, later)
    if (!Number.isNaN(move)) moves.push(move)
  }
  return !isManyMoved(walk, moves) && !isManyLacking(lacking, expected)
}

function isConfirmedRate(walk: Walk, column: Column, row: number, needed: number): boolean {
  const isRevision = !Number.isNaN(previousRate(walk, column, row))
  if (isRevision || column.isContradicted) return false
  return (
    isRepeated(walk, column, row, needed) &&
    isPlausibleRate(walk, column, row) &&
    !isContradictedLater(walk, column, row)
  )
}

/** Whether `publications` in a row, the one of `row` included, have about the same rate. */
function isRepeated(walk: Walk, column: Column, row: number, publications: number): boolean {
  let [last, count] = [row, 1]
  for (let next = row + 1; count < publications && next < walk.dates.length; next += 1) {
    const move = moveBetween(addedRate(walk, column, next), addedRate(walk, column, last))
    if (Number.isNaN(move)) continue
    const gap = (walk.instants[next] ?? NaN) - (walk.instants[last] ?? NaN)
    if (!(gap <= walk.maxGap && move <= MAX_CONFIRMING_MOVE)) return false
    last = next
    count += 1
  }
  return count === publications
}

/** Whether another source contradicts the last rate before the next doubtful move, or an update already has that move. */
function isContradictedLater(walk: Walk, column: Column, row: number): boolean {
  const { code, accepted, lastAcceptedRow } = column
  let end = Math.max(row, column.levelEnd)
  let next = nextRow(column, end)
  while (next < accepted.length) {
    if (isDoubtfulMove(code, moveBetween(accepted[next], accepted[end]), walk.frequency)) break
    end = next
    next = nextRow(column, end)
  }
  column.levelEnd = end
  // A slip that is over has no rate of the same time to compare it with, and would be accepted with age.
  const isOver = walk.isUpdate && next < accepted.length
  const fromOthers = moveFromOthers(walk, column, end)
  // The first rates of a whole history did not move, but may have a wrong unit.
  if (lastAcceptedRow < 0 && !walk.isUpdate) {
    const rate = unitsOf(walk, column, accepted[end] ?? NaN)
    const fromUsual = walk.moveFromUsual(walk.dates[end] ?? '', code, rate)
    return fromUsual > MIN_COMPARED_MOVE && isDoubtfulMove(code, fromOthers)
  }
  const isOffPeg = fromOthers > MAX_AGREEING_MOVE && isOffPegOn(walk, column, end)
  return isOver || isOffPeg || isDoubtfulMove(code, fromOthers)
}

function nextRow({ accepted }: Column, row: number): number {
  let next = row + 1
  while (Number.isNaN(accepted[next])) next += 1
  return next
}

function isContradictedByNext(walk: Walk, column: Column, row: number): boolean {
  const move = moveBetween(addedRate(walk, column, row), nextRate(walk, column, row))
  return isDoubtfulMove(column.code, move, walk.frequency)
}

function nextRate(walk: Walk, column: Column, row: number): number {
  const until = (walk.instants[row] ?? NaN) + walk.maxGap
  for (let next = row + 1; (walk.instants[next] ?? Infinity) <= until; next += 1) {
    const rate = addedRate(walk, column, next)
    if (!Number.isNaN(rate)) return rate
  }
  return NaN
}

function quarantineDay(walk: Walk, row: number): void {
  for (const column of walk.columns) column.accepted[row] = previousRate(walk, column, row)
  walk.quarantined.push(walk.dates[row] ?? '')
}

function quarantineRate(walk: Walk, column: Column, row: number): void {
  const previous = previousRate(walk, column, row)
  column.accepted[row] = previous
  if (!Number.isNaN(previous)) column.isContradicted = true
  walk.quarantined.push(`${walk.dates[row] ?? ''} ${column.code}`)
}
