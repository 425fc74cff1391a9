import { exactMean, exactPercentage, exactProductOf, exactQuotient, roundExactly } from './exact.ts'

/** Derived rates and means are rounded to this many significant digits. */
export const SIGNIFICANT_DIGITS = 10

/** Percentages are rounded to this many decimals. */
const PERCENT_DECIMALS = 4

/** The powers of ten that a double holds exactly. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))

/** Between these, the powers above tell the size of a number. */
const MIN_SIZED = 1e-12
const MAX_SIZED = 1e22

/** Below this, a quotient of two doubles, or of a compensated sum, is right to 1e-5 of its last digit: the margin is wider. */
const DOUBLE_DECIDES_BELOW = 1e10
const TIE_MARGIN = 0.0001

/** Decimals of so many digits at most are all different doubles: one that equals such a decimal is printed as it. */
const MAX_PRINTED = 1e15

/** `dividend` / `divisor`, both positive, rounded half up to 10 significant digits. */
export function quotient(dividend: number, divisor: number): number {
  const approximate = dividend / divisor
  const decimals = significantDecimals(approximate)
  return (
    roundByDouble(approximate, decimals) ?? roundExactly(exactQuotient(dividend, divisor), decimals)
  )
}

/** The mean of `values` (positive, at least one), rounded half up to 10 significant digits. */
export function mean(values: Float64Array): number {
  const approximate = sum(values) / values.length
  const decimals = significantDecimals(approximate)
  return roundByDouble(approximate, decimals) ?? roundExactly(exactMean(values), decimals)
}

/** The sum of `values`, whose error does not grow with their number (Kahan's summation). */
function sum(values: Float64Array): number {
  let [total, lost] = [0, 0]
  for (let index = 0; index < values.length; index += 1) {
    const value = (values[index] ?? NaN) - lost
    const next = total + value
    lost = next - total - value
    total = next
  }
  return total
}

/** (`close` / `open` − 1) × 100, both positive, rounded to 4 decimals, half away from zero; never −0. */
export function percentChange(open: number, close: number): number {
  const size = Math.abs(close - open) / open
  const rounded =
    roundByDouble(size * 100, PERCENT_DECIMALS) ??
    roundExactly(exactPercentage(open, close), PERCENT_DECIMALS)
  return close < open ? 0 - rounded : rounded
}

/**
 * The exact decimal product of two non-negative numbers, each in its shortest decimal form, rounded once to the
 * nearest double: 0.1 × 3 is 0.3. Infinity where the product is beyond the doubles.
 */
export function exactProduct(left: number, right: number): number {
  const ofLeft = printedDecimals(left)
  const ofRight = printedDecimals(right)
  const product = withoutPoint(left, ofLeft) * withoutPoint(right, ofRight)
  // A quotient of two whole numbers that doubles hold is rounded just once.
  if (product <= Number.MAX_SAFE_INTEGER && ofLeft + ofRight < POWERS_OF_TEN.length) {
    return product / powerOfTen(ofLeft + ofRight)
  }
  return exactProductOf(left, right)
}

/** How many decimals the shortest form of `value`, not negative, has; NaN where that has more than 15 digits in all. */
export function printedDecimals(value: number): number {
  for (let decimals = 0; decimals < POWERS_OF_TEN.length; decimals += 1) {
    const whole = withoutPoint(value, decimals)
    if (whole >= MAX_PRINTED) return NaN
    if (whole / powerOfTen(decimals) === value) return decimals
  }
  return NaN
}

/** The digits of `value`, which has so many `decimals`, as a whole number. */
export function withoutPoint(value: number, decimals: number): number {
  return Math.round(value * powerOfTen(decimals))
}

/** How many decimals `value`, positive, has with 10 significant digits; negative where even some whole digits are more. */
export function significantDecimals(value: number): number {
  if (value < MIN_SIZED || value >= MAX_SIZED) {
    const [, exponent] = value.toExponential().split('e')
    return SIGNIFICANT_DIGITS - 1 - Number(exponent)
  }
  let decimals = SIGNIFICANT_DIGITS - 1
  while (value >= powerOfTen(SIGNIFICANT_DIGITS - decimals)) decimals -= 1
  while (value * powerOfTen(decimals) < powerOfTen(SIGNIFICANT_DIGITS - 1)) decimals += 1
  return decimals
}

/**
 * `approximate` rounded half up to `decimals` places; undefined where it lies so close to a tie that its own error could
 * tip it, and where it has more whole digits than count, which is rare.
 */
function roundByDouble(approximate: number, decimals: number): number | undefined {
  const power = powerOfTen(decimals)
  const scaled = approximate * power
  const fraction = scaled - Math.floor(scaled)
  if (scaled >= DOUBLE_DECIDES_BELOW || !(Math.abs(fraction - 0.5) > TIE_MARGIN)) return undefined
  return Math.round(scaled) / power
}

/** 10^`power`; NaN where a double cannot hold it exactly. */
export function powerOfTen(power: number): number {
  return POWERS_OF_TEN[power] ?? NaN
}
