import { toDay } from './day.ts'
import type { Day } from './day.ts'
import type { RateTable } from './rate-table.ts'
import { printedDecimals } from './rounding.ts'
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
const MAX_DEVIATION = 0.005

/** Feeds round to no fewer decimals than so many, even where zeros at the end hide some. */
const MIN_DECIMALS = 4

/** The rate that law has fixed, and how far from it digits that were rounded may lie. */
interface FixedRate {
  rate: number
  resolution: number
}

/**
 * The table with every rate of a currency that was withdrawn by its `updatedAt` as law has fixed it: the rate of what it has
 * become times the ratio, to 15 significant digits, as with 10 the quotient of both would not always be the ratio again. A
 * rate that agrees but for rounding stays as it is, and so do the base's and those without a fixed ratio, or without the
 * successor in the table.
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
  if (ratio === null) return undefined
  const rate = rateOf(successor)
  if (typeof rate !== 'number' || !(rate > 0)) return undefined
  return { rate: toPrinted(rate * ratio), resolution: ratio * resolutionOf(rate) }
}

/** `value` without what its binary form has of a sixteenth digit. */
function toPrinted(value: number): number {
  return Number(value.toPrecision(15))
}

function agrees(published: number, { rate, resolution }: FixedRate): boolean {
  const tolerated = MAX_DEVIATION * rate + resolution + resolutionOf(published)
  return Math.abs(published - rate) <= tolerated
}

/** By how much a number may have been rounded, by its decimals. */
function resolutionOf(value: number): number {
  const decimals = printedDecimals(value)
  return Number.isNaN(decimals) ? 0 : 0.5 / 10 ** Math.max(MIN_DECIMALS, decimals)
}
