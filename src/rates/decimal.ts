/** Keeps powers of ten small. The exponents of doubles have at most three digits. */
const MAX_EXPONENT = 999

/** The number `digits` × 10^`exponent`. */
export interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

export const ONE: Decimal = { digits: 1n, exponent: 0 }

const FORM = /^(?=[+-]?\.?\d)([+-]?\d*)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** Reads a decimal such as `-12.50`, `.5` or `1e-7`. Undefined for another text, and for exponents beyond ±999, unless it is 0. */
export function parseDecimal(text: string): Decimal | undefined {
  const [found, whole = '', decimals = '', power] = FORM.exec(text) ?? []
  const digits = BigInt(whole + decimals)
  const shift = digits === 0n ? 0 : Number(power ?? 0)
  if (found === undefined || Math.abs(shift) > MAX_EXPONENT) return undefined
  return { digits, exponent: shift - decimals.length }
}

/** @throws {TypeError} unless `value` is finite; a number is read in its shortest decimal form, such as 0.1 */
export function toDecimal(value: number | string): Decimal {
  const decimal = parseDecimal(String(value))
  if (!decimal) throw new TypeError(`expected a decimal, got ${value}`)
  return decimal
}

/** Returns the nearest double, which may be ±Infinity; never -0. */
export function toNumber({ digits, exponent }: Decimal): number {
  return Number(`${digits}e${exponent}`) + 0
}

/** Returns a text with as many decimals as `exponent` (not positive) has: 1250 × 10^-2 is `12.50`. */
export function toText({ digits, exponent }: Decimal): string {
  const size = String(sizeOf(digits)).padStart(1 - exponent, '0')
  const end = size.length + exponent
  return `${digits < 0n ? '-' : ''}${size.slice(0, end)}${exponent < 0 ? `.${size.slice(end)}` : ''}`
}

/** Returns the digits that `decimal` has with the exponent `exponent`, which must not be larger than its own. */
export function digitsAt(decimal: Decimal, exponent: number): bigint {
  return decimal.digits * tenTo(decimal.exponent - exponent)
}

/** Returns a number in its shortest decimal form, without an exponent. */
export function toPlainText(value: number): string {
  const text = String(value)
  if (Number.isFinite(value) && !text.includes('e')) return text
  const decimal = toDecimal(value)
  const exponent = Math.min(0, decimal.exponent)
  return toText({ digits: digitsAt(decimal, exponent), exponent })
}

export function add(left: Decimal, right: Decimal): Decimal {
  const exponent = Math.min(left.exponent, right.exponent)
  return { digits: digitsAt(left, exponent) + digitsAt(right, exponent), exponent }
}

export function subtract(left: Decimal, right: Decimal): Decimal {
  return add(left, { ...right, digits: -right.digits })
}

export function multiply(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, exponent: left.exponent + right.exponent }
}

/**
 * Returns whether to round away from zero, between two neighbours. `half` is negative if the one closer to zero is nearer, 0 at
 * a tie. The value may be negative, and the neighbour closer to zero odd.
 */
export type IsAway = (half: number, isNegative: boolean, isOdd: boolean) => boolean

const halfAway: IsAway = (half) => half >= 0

/** Returns `dividend` / `divisor` (positive) rounded to `decimals` places, which may be negative; by default half away from zero. */
export function divide(
  dividend: Decimal,
  divisor: Decimal,
  decimals: number,
  isAway: IsAway = halfAway,
): Decimal {
  const shift = dividend.exponent - divisor.exponent + decimals
  let [size, unit] = [dividend.digits, divisor.digits]
  if (shift > 0) size *= tenTo(shift)
  else unit *= tenTo(-shift)
  const rest = size % unit
  const isNegative = rest < 0n
  const half = Number(2n * sizeOf(rest) - unit)
  let digits = size / unit
  if (rest && isAway(half, isNegative, digits % 2n !== 0n)) digits += isNegative ? -1n : 1n
  return { digits, exponent: -decimals }
}

/** Returns `dividend` / `divisor` (positive) rounded to `significant` digits, half away from zero. */
export function divideSignificant(
  dividend: Decimal,
  divisor: Decimal,
  significant: number,
): Decimal {
  // 10 ** (magnitude − 1) < quotient < 10 ** (magnitude + 1)
  const magnitude = lengthOf(dividend) + dividend.exponent - lengthOf(divisor) - divisor.exponent
  const rounded = divide(dividend, divisor, significant - magnitude)
  const hasMore = lengthOf(rounded) > significant
  return hasMore ? divide(dividend, divisor, significant - magnitude - 1) : rounded
}

function lengthOf({ digits }: Decimal): number {
  return String(sizeOf(digits)).length
}

function sizeOf(digits: bigint): bigint {
  return digits < 0n ? -digits : digits
}

function tenTo(power: number): bigint {
  return 10n ** BigInt(power)
}
