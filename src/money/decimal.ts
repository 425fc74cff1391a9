/** Maximum length of a decimal string, in characters: that of the longest double without an exponent, with room. */
const MAX_CHARACTERS = 400

/** Exponents have at most three digits, as those of doubles, so that powers of ten stay small. */
const FORM = /^([+-]?)(\d+)?(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/** The number `digits` × 10^`exponent`. */
export interface Decimal {
  digits: bigint
  exponent: number
}

/**
 * Reads a decimal; a number is its shortest decimal form, such as 0.1. `name` is its name in errors.
 *
 * @throws {TypeError} unless `value` is a finite number or a decimal string
 * @throws {RangeError} if the string is longer than 400 characters
 */
export function toDecimal(value: number | string, name = 'value'): Decimal {
  const text = String(value)
  if (text.length > MAX_CHARACTERS) {
    throw new RangeError(`${name} must have at most ${MAX_CHARACTERS} characters`)
  }
  const isNumeric = typeof value === 'number' || typeof value === 'string'
  const [, sign, whole = '', decimals = '', power = 0] = (isNumeric && FORM.exec(text)) || []
  if (whole + decimals === '') {
    throw new TypeError(
      `${name} must be a number or a decimal such as '12.50', got ${JSON.stringify(text.slice(0, 40))}`,
    )
  }
  const digits = BigInt(whole + decimals)
  return { digits: sign === '-' ? -digits : digits, exponent: Number(power) - decimals.length }
}

/** @throws {TypeError} that names the unknown option */
export function assertOptions(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new TypeError(`unknown option "${unknown}"; known options: ${known.join(', ')}`)
}

export function tenTo(power: number): bigint {
  return 10n ** BigInt(power)
}

/** A quotient of two integers; the denominator is positive. */
export interface Fraction {
  numerator: bigint
  denominator: bigint
}

export function toFraction({ digits, exponent }: Decimal): Fraction {
  return exponent < 0
    ? { numerator: digits, denominator: tenTo(-exponent) }
    : { numerator: digits * tenTo(exponent), denominator: 1n }
}

/** How to round a number between two neighbours, as in `roundingMode` of `Intl.NumberFormat`. */
export type RoundingMode =
  | 'ceil'
  | 'floor'
  | 'expand'
  | 'trunc'
  | 'halfCeil'
  | 'halfFloor'
  | 'halfExpand'
  | 'halfTrunc'
  | 'halfEven'

type IsAway = (isNegative: boolean, isOdd: boolean) => boolean

const away: IsAway = () => true
const toZero: IsAway = () => false
const up: IsAway = (isNegative) => !isNegative
const down: IsAway = (isNegative) => isNegative
const toEven: IsAway = (_, isOdd) => isOdd

/** Whether to round away from zero: for `half` modes a tie, for others every number that is not an integer. */
const MODES: Readonly<Record<RoundingMode, IsAway>> = {
  ceil: up,
  floor: down,
  expand: away,
  trunc: toZero,
  halfCeil: up,
  halfFloor: down,
  halfExpand: away,
  halfTrunc: toZero,
  halfEven: toEven,
}

/** @throws {TypeError} for an unknown mode */
export function roundFraction({ numerator, denominator }: Fraction, mode: RoundingMode): bigint {
  if (!Object.hasOwn(MODES, mode)) {
    throw new TypeError(`mode must be a roundingMode of Intl.NumberFormat, got ${mode}`)
  }
  const isNegative = numerator < 0n
  const size = isNegative ? -numerator : numerator
  const whole = size / denominator
  const rest = size - whole * denominator
  const excess = mode.startsWith('half') ? 2n * rest - denominator : 0n
  const isAway = rest > 0n && excess === 0n ? MODES[mode](isNegative, whole % 2n > 0n) : excess > 0n
  const rounded = isAway ? whole + 1n : whole
  return isNegative ? -rounded : rounded
}

/** Returns `units` × 10^-`digits` as a decimal string with `digits` decimals. */
export function toText(units: bigint, digits: number): string {
  const sign = units < 0n ? '-' : ''
  const size = String(units < 0n ? -units : units).padStart(digits + 1, '0')
  const end = size.length - digits
  return `${sign}${size.slice(0, end)}${digits > 0 ? `.${size.slice(end)}` : ''}`
}
