import { isCode } from '../rates/currency-code.ts'
import { toDay } from '../rates/day.ts'
import { findFixedRate } from '../rates/fixed-rates.ts'
import {
  MAX_AGREEING_MOVE,
  MAX_CONFIRMING_MOVE,
  countManyMoved,
  findImplausibleMajors,
  isDoubtfulMove,
  moveBetween,
} from '../rates/plausibility.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import type { LatestTable, ReferenceTable } from './provider.ts'

/** The world has some 160 currencies. */
const MIN_CODES = 20
const MAX_CODES = 1_000

/** Units of any currency for one of another: the real extremes are five powers of ten away from these. */
const MIN_PLAUSIBLE_RATE = 1e-9
const MAX_PLAUSIBLE_RATE = 1e9

/** A smaller share of the codes of the table before is half a table. */
const MIN_SHARE_KEPT = 0.8

/** Rates of the same currencies, against the base of the table that they are compared with. */
type RateOf = (code: string) => number | undefined

/**
 * The table as a real market may have published it. Implausible rates become NaN, so that they are dropped as bad ones are.
 * A rate that moved too far from that of `previous` (see `isDoubtfulMove`) is held back: `rates` has the one before, and
 * `unconfirmed` the new one, until a later publication comes with about the same, unless one of `references` agrees with
 * it already. Without a `previous` table, `references` take its place, and a doubtful rate is NaN. Withdrawn currencies
 * whose rates law has fixed pass as they are: they do not move, and are corrected where they are wrong.
 *
 * @throws {RejectedError} for too few or too many codes, fewer than 80 % of those of `previous`, a table in which many rates
 * moved at once, or major currencies far from any rate that they ever had
 */
export function runSanityChecks(
  table: LatestTable,
  previous: LatestTable | undefined,
  references: readonly ReferenceTable[] = [],
): LatestTable {
  const rates = mapRates(table.rates, (_code, rate) => (isPlausible(rate) ? rate : NaN))
  const codes = Object.keys(rates).filter(isCode)
  if (codes.length < MIN_CODES || codes.length > MAX_CODES) {
    throw new RejectedError(`${codes.length} codes are not a market`)
  }
  const countBefore = previous ? Object.keys(previous.rates).length : 0
  if (codes.length < MIN_SHARE_KEPT * countBefore) {
    throw new RejectedError(`${codes.length} codes are left of ${countBefore}`)
  }
  return withoutImplausibleMajors(quarantine({ ...table, rates }, codes, previous, references))
}

/** `table` with the rates before in place of those that are doubtful. */
function quarantine(
  table: LatestTable,
  codes: readonly string[],
  previous: LatestTable | undefined,
  references: readonly ReferenceTable[],
): LatestTable {
  const { base, rates } = table
  const day = toDay(table.updatedAt)
  const others = references.map((each) => against(base, each.base, (code) => each.rates.get(code)))
  const before = against(base, previous?.base ?? base, (code) => previous?.rates[code])
  const heldBefore: RateOf = (code) =>
    previous?.base === base ? previous.unconfirmed?.[code] : undefined
  const expected: RateOf = previous
    ? before
    : (code) => others.map((rateOf) => rateOf(code)).find((rate) => rate !== undefined)

  const isConfirmed = (code: string): boolean =>
    (isLater(table, previous) &&
      moveBetween(rates[code], heldBefore(code)) <= MAX_CONFIRMING_MOVE) ||
    others.some((rateOf) => moveBetween(rates[code], rateOf(code)) <= MAX_AGREEING_MOVE)
  const compared = codes
    .filter((code) => code !== base && !findFixedRate(code, day, (each) => rates[each]))
    .filter((code) => expected(code) !== undefined || heldBefore(code) !== undefined)
    .map((code) => {
      const move = moveBetween(rates[code], expected(code) ?? heldBefore(code))
      return { code, move: isConfirmed(code) ? 1 : move }
    })
  const many = countManyMoved(compared.map(({ move }) => move))
  if (many !== undefined) {
    throw new RejectedError(`${many} of ${compared.length} rates moved by more than 20 %`)
  }
  const doubtful = new Set(
    compared.filter(({ code, move }) => isDoubtfulMove(code, move)).map(({ code }) => code),
  )
  if (doubtful.size === 0) return table
  const heldBack = [...doubtful].map((code) => [code, rates[code] ?? NaN] as const)
  return {
    ...table,
    rates: mapRates(rates, (code, rate) => (doubtful.has(code) ? (before(code) ?? NaN) : rate)),
    unconfirmed: { ...table.unconfirmed, ...Object.fromEntries(heldBack) },
  }
}

/** `table` without major currencies whose rates are beyond all that they have ever been. */
function withoutImplausibleMajors(table: LatestTable): LatestTable {
  const { base, rates } = table
  const { codes, isMany } = findImplausibleMajors({ base, rateOf: (code) => rates[code] })
  if (isMany) {
    throw new RejectedError(`the rates of ${codes.join(', ')} against the dollar are implausible`)
  }
  if (codes.length === 0) return table
  return { ...table, rates: mapRates(rates, (code, rate) => (codes.includes(code) ? NaN : rate)) }
}

/** Whether `table` is another publication than `previous`, and a later one. */
function isLater(table: LatestTable, previous: LatestTable | undefined): boolean {
  if (!previous || table.updatedAt === previous.updatedAt) return false
  return table.updatedAt > (previous.publishedAt ?? previous.updatedAt)
}

/** `rateOf`, which is against `quotedBase`, against `base`. */
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

/** Values that are not numbers are left for later checks. */
function isPlausible(rate: unknown): boolean {
  return typeof rate !== 'number' || (rate >= MIN_PLAUSIBLE_RATE && rate <= MAX_PLAUSIBLE_RATE)
}
