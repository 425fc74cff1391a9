/** Derived rates and means are rounded to this many significant digits. */
const SIGNIFICANT_DIGITS = 10

/** Percentages are rounded to this many decimals. */
const PERCENT_DECIMALS = 4

/** The powers of ten that a double holds exactly. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))

/**
 * Below the first, a quotient of two doubles is right to 1e-4 of its last digit, and the sum of 1,300 of them, five
 * years' days, to 2e-3: the margin is wider than either. A mean of 10,000 and more would need a wider one.
 */
const DOUBLE_DECIDES_BELOW = 1e11
const TIE_MARGIN = 0.01

/** `digits` × 10^`exponent`: a number as it is printed, without the error of its binary form. */
interface Decimal {
  digits: bigint
  exponent: number
}

interface Fraction {
  numerator: bigint
  denominator: bigint
}

/** `dividend` / `divisor`, both positive, rounded half up to 10 significant digits. */
export function quotient(dividend: number, divisor: number): number {
  return toSignificant(dividend / divisor, () => {
    const [numerator, denominator] = [toDecimal(dividend), toDecimal(divisor)]
    return toFraction(
      numerator.digits,
      denominator.digits,
      numerator.exponent - denominator.exponent,
    )
  })
}

/** The mean of `values` (positive, at least one), rounded half up to 10 significant digits. */
export function mean(values: readonly number[]): number {
  const total = values.reduce((sum, value) => sum + value, 0)
  return toSignificant(total / values.length, () => {
    const decimals = values.map(toDecimal)
    const exponent = Math.min(...decimals.map((decimal) => decimal.exponent))
    const sum = decimals.reduce(
      (digits, decimal) => digits + decimal.digits * tenTo(decimal.exponent - exponent),
      0n,
    )
    return toFraction(sum, BigInt(values.length), exponent)
  })
}

/** (`close` / `open` − 1) × 100, both positive, rounded to 4 decimals, half away from zero; never −0. */
export function percentChange(open: number, close: number): number {
  if (close < open) return 0 - roundPercent(open - close, open, close)
  return roundPercent(close - open, open, close)
}

function roundPercent(difference: number, open: number, close: number): number {
  return roundScaled((difference / open) * 100, PERCENT_DECIMALS, () => {
    const [from, to] = [toDecimal(open), toDecimal(close)]
    const exponent = Math.min(from.exponent, to.exponent)
    const start = from.digits * tenTo(from.exponent - exponent)
    const change = to.digits * tenTo(to.exponent - exponent) - start
    return { numerator: 100n * (change < 0n ? -change : change), denominator: start }
  })
}

/**
 * The exact decimal product of two non-negative numbers, each in its shortest decimal form, rounded once to the
 * nearest double: 0.1 × 3 is 0.3. Infinity where the product is beyond the doubles.
 */
export function exactProduct(left: number, right: number): number {
  const [a, b] = [toDecimal(left), toDecimal(right)]
  return Number(`${a.digits * b.digits}e${a.exponent + b.exponent}`)
}

function toSignificant(approximate: number, exact: () => Fraction): number {
  let decimals = SIGNIFICANT_DIGITS - 1 - Math.floor(Math.log10(approximate))
  // The logarithm of a number next to a power of ten may fall on either side of it.
  const scaled = approximate * 10 ** decimals
  if (scaled < 10 ** (SIGNIFICANT_DIGITS - 1)) decimals += 1
  else if (scaled >= 10 ** SIGNIFICANT_DIGITS) decimals -= 1
  return roundScaled(approximate, decimals, exact)
}

/**
 * Rounds half up to `decimals` places. A double decides, unless it lies so close to a tie that its own error could
 * tip it: then the exact fraction does.
 */
function roundScaled(approximate: number, decimals: number, exact: () => Fraction): number {
  const power = POWERS_OF_TEN[Math.abs(decimals)]
  if (power !== undefined) {
    const scaled = decimals < 0 ? approximate / power : approximate * power
    const fraction = scaled - Math.floor(scaled)
    if (scaled < DOUBLE_DECIDES_BELOW && Math.abs(fraction - 0.5) > TIE_MARGIN) {
      const whole = Math.round(scaled)
      return decimals < 0 ? whole * power : whole / power
    }
  }
  const { numerator, denominator } = exact()
  const scaled = toFraction(numerator, denominator, decimals)
  const whole = (2n * scaled.numerator + scaled.denominator) / (2n * scaled.denominator)
  return Number(`${whole}e${-decimals}`)
}

function toDecimal(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', decimals = ''] = mantissa.split('.')
  return { digits: BigInt(whole + decimals), exponent: Number(exponent) - decimals.length }
}

function toFraction(numerator: bigint, denominator: bigint, exponent: number): Fraction {
  return exponent < 0
    ? { numerator, denominator: denominator * tenTo(-exponent) }
    : { numerator: numerator * tenTo(exponent), denominator }
}

function tenTo(power: number): bigint {
  return 10n ** BigInt(power)
}
