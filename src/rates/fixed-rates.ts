import { toDay } from './day.ts'
import type { Day } from './day.ts'
import type { RateTable } from './rate-table.ts'
import { exactProduct, printedDecimals } from './rounding.ts'
import { findSuccession } from './withdrawn.ts'

/** A rate of a withdrawn currency that was not what law had fixed it at. */
export interface RateCorrection {
  code: string
  /** Units for one of the table's base, as published. */
  published: number
  /** Units for one of the table's base by the successor's rate and the fixed ratio. */
  corrected: number
}

/**
 * A rate this near to the fixed one is left as it was published: honest feeds are within 0.006 %, and what is wrong by less
 * than half a percent may as well be another rounding of the successor.
 */
const SHARE_TOLERATED = 0.005

/** Feeds round to no fewer decimals than so many, even where zeros at the end hide some. */
const FEWEST_DECIMALS = 4

/** The rate that law has fixed, and how far from it digits that were rounded may lie. */
interface FixedRate {
  rate: number
  resolution: number
}

/**
 * The table, published at its `updatedAt`, with every rate of a currency withdrawn by then as law fixed it: the rate of
 * what it has become times the ratio, without any rounding, so that the quotient of both is the ratio again. A rate that
 * agrees but for its rounding stays, and so does one without a fixed ratio or without the successor in the table, and the base's.
 */
export function correctWithdrawn(table: RateTable): {
  table: RateTable
  corrections: RateCorrection[]
} {
  const { base, updatedAt, rates } = table
  const day = toDay(updatedAt)
  const corrections: RateCorrection[] = []
  for (const [code, published] of rates) {
    const fixed = code === base ? undefined : findFixedRate(code, day, (each) => rates.get(each))
    if (!fixed || agrees(published, fixed)) continue
    corrections.push({ code, published, corrected: fixed.rate })
  }
  if (corrections.length === 0) return { table, corrections }
  const corrected = new Map(rates)
  for (const { code, corrected: rate } of corrections) corrected.set(code, rate)
  return { table: { ...table, rates: corrected }, corrections }
}

/** What law leaves the rate of `code` to be on `day`; undefined for one with a market, or without its successor in the rates. */
export function findFixedRate(
  code: string,
  day: Day,
  rateOf: (code: string) => unknown,
): FixedRate | undefined {
  const { successor = '', ratio = null } = findSuccession(code, day) ?? {}
  const rate = ratio === null ? undefined : rateOf(successor)
  if (ratio === null || typeof rate !== 'number' || !(rate > 0)) return undefined
  return { rate: exactProduct(rate, ratio), resolution: ratio * resolutionOf(rate) }
}

function agrees(published: number, { rate, resolution }: FixedRate): boolean {
  const tolerated = SHARE_TOLERATED * rate + resolution + resolutionOf(published)
  return Math.abs(published - rate) <= tolerated
}

/** By how much a number may have been rounded, by its decimals. */
function resolutionOf(value: number): number {
  const decimals = printedDecimals(value)
  return Number.isNaN(decimals) ? 0 : 0.5 / 10 ** Math.max(FEWEST_DECIMALS, decimals)
}
