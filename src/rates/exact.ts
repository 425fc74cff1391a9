interface Decimal {
  digits: bigint
  exponent: number
}

/** A quotient of two integers. */
export interface Fraction {
  numerator: bigint
  denominator: bigint
}

/** Returns `dividend` / `divisor`. */
export function exactQuotient(dividend: number, divisor: number): Fraction {
  const [numerator, denominator] = [toDecimal(dividend), toDecimal(divisor)]
  return toFraction(numerator.digits, denominator.digits, numerator.exponent - denominator.exponent)
}

/** Returns the mean of `values`. */
export function exactMean(values: Iterable<number>): Fraction {
  const decimals = Array.from(values, toDecimal)
  const exponent = Math.min(...decimals.map((decimal) => decimal.exponent))
  const sum = decimals.reduce(
    (digits, decimal) => digits + decimal.digits * tenTo(decimal.exponent - exponent),
    0n,
  )
  return toFraction(sum, BigInt(decimals.length), exponent)
}

/** Returns the absolute difference of `close` from `open` in percent. */
export function exactPercentage(open: number, close: number): Fraction {
  const [from, to] = [toDecimal(open), toDecimal(close)]
  const exponent = Math.min(from.exponent, to.exponent)
  const start = from.digits * tenTo(from.exponent - exponent)
  const change = to.digits * tenTo(to.exponent - exponent) - start
  return { numerator: 100n * (change < 0n ? -change : change), denominator: start }
}

/** Returns `left` − `right`, rounded once to the nearest double; never −0. */
export function exactDifference(left: number, right: number): number {
  const [a, b] = [toDecimal(left), toDecimal(right)]
  const exponent = Math.min(a.exponent, b.exponent)
  const digits = a.digits * tenTo(a.exponent - exponent) - b.digits * tenTo(b.exponent - exponent)
  return Number(`${digits}e${exponent}`)
}

/** Returns `left` × `right`, rounded once to the nearest double. */
export function exactProductOf(left: number, right: number): number {
  const [a, b] = [toDecimal(left), toDecimal(right)]
  return Number(`${a.digits * b.digits}e${a.exponent + b.exponent}`)
}

/** Rounds a positive fraction half up to `decimals` places. */
export function roundExactly({ numerator, denominator }: Fraction, decimals: number): number {
  const scaled = toFraction(numerator, denominator, decimals)
  const whole = (2n * scaled.numerator + scaled.denominator) / (2n * scaled.denominator)
  return Number(`${whole}e${-decimals}`)
}

function toDecimal(value: number): Decimal {
  const [mantissa = '', exponent = 0] = String(value).split('e')
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
