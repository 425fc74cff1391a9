import { printedDecimals } from './arithmetic.ts'
import { toDay } from './dates.ts'
import type { Day } from './dates.ts'
import type { RateTable } from './rate-table.ts'
import { findSuccession } from './withdrawn.ts'

/** A correction of a withdrawn currency's rate that differs from its legally fixed ratio. */
export interface RateCorrection {
  code: string
  /** Published units for one unit of the base. */
  published: number
  /** Units for one unit of the base, from the successor's rate and the fixed ratio. */
  corrected: number
}

/**
 * Closer rates are served as published: correct feeds are within 0.006 %, and a difference below half a percent may come from
 * rounding the successor's rate.
 */
const MAX_DEVIATION = 0.005

/** Feeds round to at least 4 decimals, even if trailing zeros hide some. */
const MIN_DECIMALS = 4

interface FixedRate {
  rate: number
  maxRoundingError: number
}

/**
 * Corrects the rates of currencies that were withdrawn by the `updatedAt` of `table`: the rate of the successor times the
 * legally fixed ratio, to 15 significant digits (with 10, the quotient of both would not always be the ratio). Unchanged are
 * rates that differ only by rounding, the base, and currencies without a fixed ratio or without a rate of the successor.
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

/** Returns the legally fixed rate of `code` on `day`; undefined if the currency is not withdrawn or its successor has no rate. */
export function findFixedRate(
  code: string,
  day: Day,
  rateOf: (code: string) => unknown,
): FixedRate | undefined {
  const { successor = '', ratio = null } = findSuccession(code, day) ?? {}
  if (ratio === null) return undefined
  const rate = rateOf(successor)
  if (typeof rate !== 'number' || !(rate > 0)) return undefined
  return { rate: toFifteenDigits(rate * ratio), maxRoundingError: ratio * maxRoundingErrorOf(rate) }
}

function toFifteenDigits(value: number): number {
  return Number(value.toPrecision(15))
}

function agrees(published: number, { rate, maxRoundingError }: FixedRate): boolean {
  const tolerated = MAX_DEVIATION * rate + maxRoundingError + maxRoundingErrorOf(published)
  return Math.abs(published - rate) <= tolerated
}

function maxRoundingErrorOf(value: number): number {
  const decimals = printedDecimals(value)
  return Number.isNaN(decimals) ? 0 : 0.5 / 10 ** Math.max(MIN_DECIMALS, decimals)
}
