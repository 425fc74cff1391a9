import type { Publication } from '../rates/calendar.ts'
import { isCode, redenominatedBy } from '../rates/currency-code.ts'
import { toDay } from '../rates/dates.ts'
import {
  MAX_AGREEING_MOVE,
  MAX_CONFIRMING_MOVE,
  MAX_UNUSUAL_MOVE,
  countManyMoved,
  findImplausibleMajors,
  isDoubtfulMove,
  moveFromOthers,
  moveFromUsual,
  publicationsToConfirm,
} from '../rates/moves.ts'
import { isOffPeg, pegDepth } from '../rates/pegs.ts'
import { findFixedRate, moveBetween } from '../rates/rate-table.ts'
import type { UnconfirmedRate } from '../rates/rate-table.ts'
import { RejectedError } from '../rates/validate.ts'
import type { LatestTable, ReferenceTable } from './provider.ts'

/** About 160 currencies are in use. */
const MIN_CODES = 20
const MAX_CODES = 1_000

/** Real rates between any two currencies stay five powers of ten within these limits. */
const MIN_PLAUSIBLE_RATE = 1e-9
const MAX_PLAUSIBLE_RATE = 1e9

const MIN_SHARE_KEPT = 0.8

type RateOf = (code: string) => number | undefined

/** What the checks need to know of a source. */
export interface CheckedSource {
  /** The fewest currencies of a plausible table (default 20). */
  minCodes?: number | undefined
  /** Default `daily`. */
  frequency?: Publication['frequency'] | undefined
  /** Whether a table may lack any currencies (default false). */
  mayLackRates?: boolean | undefined
}

/**
 * Checks a table of a real market and returns the plausible one. Implausible rates become NaN and are dropped later. A rate is
 * doubtful if it moved too far from the last good one, is off its official peg, or, without a good one, is contradicted by
 * `references` or far from the usual. It is quarantined: `rates` has the good value, or NaN, and `unconfirmed` the new one,
 * until one of `references` agrees, or none contradicts it and enough publications in a row have had about the same value.
 * Withdrawn currencies with a fixed ratio are not checked: their rates are corrected later.
 *
 * @throws {RejectedError} for fewer than `minCodes` or more than 1,000 codes, fewer than 80 % of those of `previous`, many rates that
 * moved at once, or major currencies far outside their range
 */
export function runSanityChecks(
  table: LatestTable,
  previous: LatestTable | undefined,
  references: readonly ReferenceTable[] = [],
  { minCodes = MIN_CODES, frequency, mayLackRates = false }: CheckedSource = {},
): LatestTable {
  const rates = mapRates(table.rates, (_code, rate) => (isPlausible(rate) ? rate : NaN))
  const codes = Object.keys(rates).filter(isCode)
  if (codes.length < minCodes || codes.length > MAX_CODES) {
    throw new RejectedError(`expected ${minCodes}–1,000 currencies, got ${codes.length}`)
  }
  const countBefore = previous ? Object.keys(previous.rates).length : 0
  if (!mayLackRates && codes.length < MIN_SHARE_KEPT * countBefore) {
    throw new RejectedError(
      `expected at least 80 % of the ${countBefore} previous currencies, got ${codes.length}`,
    )
  }
  const compared = { table: { ...table, rates }, previous, references, frequency }
  return withoutImplausibleMajors(quarantine(compared, codes))
}

interface Comparison {
  table: LatestTable
  previous: LatestTable | undefined
  references: readonly ReferenceTable[]
  frequency: Publication['frequency'] | undefined
}

function quarantine(comparison: Comparison, codes: readonly string[]): LatestTable {
  const { table, previous } = comparison
  const { base, rates } = table
  const day = toDay(table.updatedAt)
  const previousRate = against(base, previous?.base ?? base, (code) => {
    const { [code]: rate } = previous?.rates ?? {}
    const updatedAt = previous?.older?.[code]?.updatedAt ?? previous?.updatedAt ?? table.updatedAt
    // In the units of today.
    return rate && rate / redenominatedBy(code, toDay(updatedAt), day)
  })
  const moves: number[] = []
  const quarantined = new Map<string, UnconfirmedRate>()
  const checkedRate: RateOf = (code) => {
    if (code === base) return 1
    return quarantined.has(code) ? previousRate(code) : rates[code]
  }
  // The rates of anchors are checked before those of the currencies that are pegged to them.
  for (const code of codes.toSorted((one, other) => pegDepth(one) - pegDepth(other))) {
    const isUnusable = Number.isNaN(rates[code])
    if (isUnusable || code === base || findFixedRate(code, day, (each) => rates[each])) continue
    const isOff = isOffPeg(code, day, checkedRate) && !isOffPeg(code, day, previousRate)
    const { move, unconfirmed } = compareRate(comparison, code, previousRate(code), isOff)
    if (!Number.isNaN(move)) moves.push(move)
    if (unconfirmed) quarantined.set(code, unconfirmed)
  }
  const many = countManyMoved(moves)
  if (many !== undefined) {
    throw new RejectedError(
      `${many} of ${moves.length} rates moved by more than 20 %; expected at most 10 % of them`,
    )
  }
  if (quarantined.size === 0) return table
  return {
    ...table,
    rates: mapRates(rates, (code, rate) =>
      quarantined.has(code) ? (previousRate(code) ?? NaN) : rate,
    ),
    unconfirmed: { ...table.unconfirmed, ...Object.fromEntries(quarantined) },
  }
}

/** `move` is NaN where nothing is known of the rate; `unconfirmed` is undefined for a good one. */
function compareRate(
  { table, previous, references, frequency }: Comparison,
  code: string,
  previousRate: number | undefined,
  isOffPeg: boolean,
): { move: number; unconfirmed?: UnconfirmedRate } {
  const { base, rates } = table
  const rate = rates[code]
  const day = toDay(table.updatedAt)
  const fromOthers = moveFromOthers(references, { base, code, rate })
  if (fromOthers <= MAX_AGREEING_MOVE) return { move: 1 }
  const known = previous?.base === base ? previous.unconfirmed?.[code] : undefined
  const good = previousRate || known?.good
  const fromGood = moveBetween(rate, good)
  const fromUsual = good === undefined ? moveFromUsual({ base, code, rate }, day) : NaN
  const unusual = fromUsual <= MAX_UNUSUAL_MOVE ? 1 : fromUsual
  const move = [fromGood, fromOthers, unusual].find((each) => !Number.isNaN(each)) ?? NaN
  const isContradicted = isOffPeg
    ? fromOthers > MAX_AGREEING_MOVE
    : isDoubtfulMove(code, fromOthers)
  const needed = Math.max(
    publicationsToConfirm(code, fromGood, frequency),
    publicationsToConfirm(code, unusual, frequency),
    isOffPeg ? publicationsToConfirm(code, Infinity, frequency) : 1,
    good === undefined && known ? 2 : 1,
  )
  if (needed === 1 && !(good === undefined && isContradicted)) return { move }
  const isRepeated = known !== undefined && moveBetween(rate, known.rate) <= MAX_CONFIRMING_MOVE
  const isNext = day > toDay(previous?.updatedAt ?? table.updatedAt)
  const publications = isRepeated ? known.publications + Number(isNext) : 1
  if (!isContradicted && publications >= needed) return { move: 1 }
  return { move, unconfirmed: { rate: Number(rate), publications, ...(good && { good }) } }
}

function withoutImplausibleMajors(table: LatestTable): LatestTable {
  const { base, rates } = table
  const { codes, isMany } = findImplausibleMajors({ base, rateOf: (code) => rates[code] })
  if (isMany) {
    throw new RejectedError(
      `implausible US dollar rates of ${codes.join(', ')}; expected within 3 times their range since 1999`,
    )
  }
  if (codes.length === 0) return table
  return { ...table, rates: mapRates(rates, (code, rate) => (codes.includes(code) ? NaN : rate)) }
}

function against(base: string, quotedBase: string, rateOf: RateOf): RateOf {
  if (base === quotedBase) return rateOf
  const baseRate = rateOf(base)
  return (code) => {
    const rate = code === quotedBase ? 1 : rateOf(code)
    return rate === undefined || baseRate === undefined ? undefined : rate / baseRate
  }
}

function mapRates(
  rates: LatestTable['rates'],
  change: (code: string, rate: number) => number,
): LatestTable['rates'] {
  return Object.fromEntries(Object.entries(rates).map(([code, rate]) => [code, change(code, rate)]))
}

function isPlausible(rate: unknown): boolean {
  return typeof rate === 'number' && rate >= MIN_PLAUSIBLE_RATE && rate <= MAX_PLAUSIBLE_RATE
}
