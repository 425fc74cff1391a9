import { exactQuotient, roundExactly } from './exact.ts'

/**
 * The significant digits that a double always keeps. Rounding a product to a double and printing it adds a relative error of
 * at most twice 2⁻⁵³, less than 3 × 10⁻¹⁶; half a unit of the 15th digit is at least 5 × 10⁻¹⁶. So dividing the product
 * returns the amount exactly, if the amount has at most 15 digits.
 */
const KEPT_DIGITS = 15

/**
 * Returns the amount that converts to `result` at `rate` (positive): the exact decimal quotient of the two, each in its
 * shortest decimal form, rounded half up to 15 significant digits. Returns Infinity beyond the range of doubles, and the
 * nearest double close to 0, where doubles have fewer digits.
 */
export function amountNeeded(result: number, rate: number): number {
  const quotient = exactQuotient(result, rate)
  const { numerator, denominator } = quotient
  // 10 ** (length − 1) < quotient < 10 ** (length + 1)
  const length = String(numerator).length - String(denominator).length
  const [scaled, unit] =
    length < 0
      ? [numerator * 10n ** BigInt(-length), denominator]
      : [numerator, denominator * 10n ** BigInt(length)]
  return roundExactly(quotient, KEPT_DIGITS - length - (scaled < unit ? 0 : 1))
}
