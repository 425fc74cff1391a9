import { isCode } from '../rates/currency-code.ts'
import { toDay } from '../rates/day.ts'
import { findFixedRate } from '../rates/fixed-rates.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import type { LatestTable } from './provider.ts'

/** The world has some 160 currencies. */
const FEWEST_CODES = 20
const MOST_CODES = 1_000

/** Units of any currency for one of another: the real extremes are five powers of ten away from these. */
const LEAST_PLAUSIBLE = 1e-9
const MOST_PLAUSIBLE = 1e9

/** A smaller share of the codes of the table before is half a table. */
const LEAST_SHARE_KEPT = 0.8

/** No day has moved half of the world by more than this share. */
const MARKET_MOVE = 0.2
const MOST_MOVED = 0.5

/** One currency may lose a power of ten overnight, or its zeros, but it may also be a slip. */
const SINGLE_MOVE = 10

/** A later rate that is no further than this from one held back confirms it. */
const CONFIRMING_MOVE = 2

/**
 * The table as a real market may have published it. Implausible rates become NaN, so that they are dropped as bad ones
 * are. A rate more than ten times that of `previous`, or less than a tenth, is held back: `rates` has the one before, and
 * `unconfirmed` the new one, until a later publication comes with about the same. Withdrawn currencies whose rates law has
 * fixed pass as they are: they do not move, and are corrected where they are wrong.
 *
 * @throws {RejectedError} for too few or too many codes, fewer than 80 % of those of `previous`, or more than half of the
 * table moved by more than 20 %
 */
export function passMarketGates(
  table: LatestTable,
  previous: LatestTable | undefined,
): LatestTable {
  const rates = Object.fromEntries(
    Object.entries(table.rates).map(([code, rate]) => [code, isPlausible(rate) ? rate : NaN]),
  )
  const codes = Object.keys(rates).filter(isCode)
  if (codes.length < FEWEST_CODES || codes.length > MOST_CODES) {
    throw new RejectedError(`${codes.length} codes are not a market`)
  }
  if (previous?.base !== table.base) return { ...table, rates }
  const before = new Map(Object.entries(previous.rates))
  if (codes.length < LEAST_SHARE_KEPT * before.size) {
    throw new RejectedError(`${codes.length} codes are left of ${before.size}`)
  }
  const day = toDay(table.updatedAt)
  const isFixed = (code: string): boolean => !!findFixedRate(code, day, (each) => rates[each])
  const shared = codes.filter((code) => code !== table.base && before.has(code) && !isFixed(code))
  const moveOf = (code: string): number => moved(rates[code], before.get(code))
  const movers = shared.filter((code) => moveOf(code) > 1 + MARKET_MOVE)
  if (movers.length > MOST_MOVED * shared.length) {
    throw new RejectedError(`${movers.length} of ${shared.length} rates moved by more than 20 %`)
  }
  const isConfirmed = (code: string): boolean =>
    table.updatedAt > previous.updatedAt &&
    moved(rates[code], previous.unconfirmed?.[code]) <= CONFIRMING_MOVE
  const heldBack = shared.filter((code) => moveOf(code) > SINGLE_MOVE && !isConfirmed(code))
  if (heldBack.length === 0) return { ...table, rates }
  const valuesOf = (values: Record<string, number>): Record<string, number> =>
    Object.fromEntries(heldBack.map((code) => [code, values[code] ?? NaN]))
  return {
    ...table,
    rates: { ...rates, ...valuesOf(previous.rates) },
    unconfirmed: { ...table.unconfirmed, ...valuesOf(rates) },
  }
}

/** What is no number at all is left to be judged as it came. */
function isPlausible(rate: unknown): boolean {
  return typeof rate !== 'number' || (rate >= LEAST_PLAUSIBLE && rate <= MOST_PLAUSIBLE)
}

/** By how much the larger of two rates exceeds the other: 1 for equal ones; NaN where one is no number. */
function moved(rate: unknown, before: unknown): number {
  if (typeof rate !== 'number' || typeof before !== 'number') return NaN
  return Math.max(rate / before, before / rate)
}
