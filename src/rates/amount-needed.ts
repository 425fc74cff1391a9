import { exactQuotient, roundExactly } from './exact.ts'

/**
 * As many significant digits as a double always keeps. A product that is rounded to a double, which is then printed, is off
 * by 2⁻⁵³ of it twice, which is less than 3 × 10⁻¹⁶; half a unit of the 15th digit is 5 × 10⁻¹⁶ at least. So what was
 * multiplied comes back from a division, exactly, where it has no more digits than these.
 */
const KEPT_DIGITS = 15

/**
 * How much gives `result` at `rate`, which is positive: the exact decimal quotient of the two, each in its shortest decimal
 * form, rounded half up to 15 significant digits. Infinity where that is beyond the doubles; next to 0, where doubles keep
 * fewer digits, the nearest of them.
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
