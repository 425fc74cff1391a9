import { assertOptions, roundFraction, tenTo, toDecimal, toFraction, toText } from './decimal.ts'
import type { Fraction, RoundingMode } from './decimal.ts'
import { cashStepOf, digitsOf } from './minor-units.ts'

/** Options of `roundTo`. */
export interface RoundingOptions {
  /** How to round between two amounts, as in `roundingMode` of `Intl.NumberFormat` (default `halfExpand`). */
  mode?: RoundingMode | undefined
  /** Whether to round to amounts that can be paid in cash, such as 0.05 CHF, by CLDR (default false). */
  cash?: boolean | undefined
}

/** Rounds a fraction of `code` to minor units; the result is a multiple of the smallest amount. */
export function roundToUnits(
  { numerator, denominator }: Fraction,
  code: string,
  options: RoundingOptions,
): bigint {
  assertOptions(options, ['mode', 'cash'])
  const { mode = 'halfExpand', cash = false } = options
  const scale = tenTo(digitsOf(code))
  const step = cash ? cashStepOf(code) : 1n
  const steps = { numerator: numerator * scale, denominator: denominator * step }
  return roundFraction(steps, mode) * step
}

/**
 * Rounds an amount to the minor units of a currency. The arithmetic is exact: a number is its shortest decimal form, so that
 * 1.005 is a tie. The result has the currency's digits, and is never `-0`.
 *
 * @throws {TypeError} for an unknown code, a currency without a minor unit, an unknown mode, or a value that is not a finite
 *   number or a decimal string
 * @throws {RangeError} for a string longer than 400 characters
 * @example
 * ```ts
 * import { roundTo } from 'ratesmith/money'
 *
 * console.log(roundTo(16170.394, 'JPY')) // 16170
 * console.log(roundTo('1.005', 'USD')) // 1.01
 * console.log(roundTo('1.005', 'USD', { mode: 'halfEven' })) // 1.00
 * console.log(roundTo(12.37, 'CHF', { cash: true })) // 12.35
 * ```
 */
export function roundTo(
  value: number | string,
  code: string,
  options: RoundingOptions = {},
): string {
  const units = roundToUnits(toFraction(toDecimal(value)), code, options)
  return toText(units, digitsOf(code))
}

/**
 * Returns an amount in minor units, such as cents.
 *
 * @throws {RangeError} if the amount is not a whole number of minor units, unless `mode` or `cash` is given; otherwise as
 *   `roundTo`
 * @example
 * ```ts
 * import { toMinorUnits } from 'ratesmith/money'
 *
 * console.log(toMinorUnits('12.50', 'USD')) // 1250n
 * console.log(toMinorUnits('12.505', 'USD', { mode: 'halfEven' })) // 1250n
 * ```
 */
export function toMinorUnits(
  value: number | string,
  code: string,
  options: RoundingOptions = {},
): bigint {
  const exact = toFraction(toDecimal(value))
  const units = roundToUnits(exact, code, options)
  const isExact = units * exact.denominator === exact.numerator * tenTo(digitsOf(code))
  if (!isExact && options.mode === undefined && !options.cash) {
    throw new RangeError(
      `value must be a whole number of minor units of ${code}, got ${value}; use mode to round`,
    )
  }
  return units
}

/**
 * Returns an amount in minor units, such as cents, as a decimal string with the currency's digits.
 *
 * @throws {TypeError} for an unknown code, and for a currency without a minor unit
 * @throws {RangeError} for a number that is not an integer, or beyond `Number.MAX_SAFE_INTEGER`
 * @example
 * ```ts
 * import { fromMinorUnits } from 'ratesmith/money'
 *
 * console.log(fromMinorUnits(1250n, 'USD')) // 12.50
 * console.log(fromMinorUnits(-5, 'KWD')) // -0.005
 * ```
 */
export function fromMinorUnits(units: bigint | number, code: string): string {
  if (typeof units !== 'bigint' && !Number.isSafeInteger(units)) {
    throw new RangeError('units must be a bigint or a safe integer')
  }
  return toText(BigInt(units), digitsOf(code))
}
