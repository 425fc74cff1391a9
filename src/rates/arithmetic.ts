import {
  ONE,
  add,
  divide,
  divideSignificant,
  multiply,
  subtract,
  toDecimal,
  toNumber,
} from './decimal.ts'
import type { Decimal } from './decimal.ts'

/** Precision of derived rates and means. */
export const SIGNIFICANT_DIGITS = 10

const PERCENT_DECIMALS = 4

/** All powers of ten that are exact doubles. */
const POWERS_OF_TEN = /* @__PURE__ */ Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))

/** Limits within which `POWERS_OF_TEN` gives the number of digits. */
const MIN_SIZED = 1e-12
const MAX_SIZED = 1e22

/** Below 1e10, a quotient of two doubles, or of a compensated sum, has an error below 1e-5 of its last digit; the margin is wider. */
const DOUBLE_DECIDES_BELOW = 1e10
const TIE_MARGIN = 0.0001

/** Decimals of up to 15 digits are distinct doubles: a double equal to such a decimal is printed as that decimal. */
const MAX_PRINTED = 1e15

export interface QuotedTable {
  readonly base: string
  /** Units of each currency for one unit of `base`; the base itself is 1. */
  readonly rates: ReadonlyMap<string, number>
  /** Codes whose `rates` are units of `base` for one unit of the currency; absent if empty. */
  readonly priced?: ReadonlySet<string> | undefined
  /** Published units of `base` for one unit of the currency, where `rates` have the inverse; absent if empty. */
  readonly prices?: ReadonlyMap<string, number> | undefined
}

/**
 * Returns the units of `to` for one unit of `from`: as published if one of them is the base and the other is quoted that way,
 * 1 if both are the same, otherwise derived to 10 significant digits.
 *
 * @throws {Error} if the table lacks one of them; callers must check first
 */
export function crossRate(table: QuotedTable, from: string, to: string): number {
  const { base, rates, priced, prices } = table
  const fromRate = rates.get(from)
  const toRate = rates.get(to)
  if (fromRate === undefined || toRate === undefined) throw new Error(`no rate of ${from} or ${to}`)
  if (from === to) return 1
  if (priced || prices) return crossQuotes(quoteOf(table, from), quoteOf(table, to))
  return from === base ? toRate : quotient(toRate, fromRate)
}

/** The quote of a currency: units of it for one unit of the base, or, where it is priced, units of the base for one of it. */
export interface Quote {
  /** Undefined for the base. */
  readonly value: number | undefined
  readonly isPriced: boolean
}

/** Returns how a table quotes a currency that it has. */
export function quoteOf({ base, rates, priced, prices }: QuotedTable, code: string): Quote {
  if (code === base) return { value: undefined, isPriced: false }
  const [value, price] = [rates.get(code), prices?.get(code)]
  // A rate may have been corrected.
  if (price !== undefined && 1 / price === value) return { value: price, isPriced: true }
  return { value, isPriced: priced?.has(code) === true }
}

/** Returns the units of `to` for one unit of `from`: as quoted if one of them is the base, otherwise 10 significant digits. */
export function crossQuotes(from: Quote, to: Quote): number {
  if (from.value === undefined) return inBase(to, !to.isPriced)
  if (to.value === undefined) return inBase(from, from.isPriced)
  if (from.isPriced !== to.isPriced) return derivedProduct(from.value, to.value, to.isPriced)
  return from.isPriced ? quotient(from.value, to.value) : quotient(to.value, from.value)
}

function inBase({ value = 1 }: Quote, isAsQuoted: boolean): number {
  return isAsQuoted ? value : quotient(1, value)
}

/** Returns `dividend` / `divisor`, both positive, rounded half up to 10 significant digits. */
export function quotient(dividend: number, divisor: number): number {
  const approximate = dividend / divisor
  return toSignificant(approximate) ?? exactQuotient(decimalOf(dividend), decimalOf(divisor))
}

/** Returns `left` × `right`, both positive, or its inverse, rounded half up to 10 significant digits. */
function derivedProduct(left: number, right: number, isInverse: boolean): number {
  const approximate = isInverse ? 1 / left / right : left * right
  const rounded = toSignificant(approximate)
  if (rounded !== undefined) return rounded
  const product = multiply(decimalOf(left), decimalOf(right))
  return isInverse ? exactQuotient(ONE, product) : exactQuotient(product, ONE)
}

/** Returns the mean of `values` (positive, at least one), rounded half up to 10 significant digits. */
export function mean(values: Float64Array): number {
  const rounded = toSignificant(sum(values) / values.length)
  if (rounded !== undefined) return rounded
  return exactQuotient(Array.from(values, decimalOf).reduce(add), decimalOf(values.length))
}

/** Kahan summation: the error does not grow with the number of values. */
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

/** Returns (`close` / `open` − 1) × 100, both positive, rounded to 4 decimals, half away from zero; never −0. */
export function percentChange(open: number, close: number): number {
  const size = (Math.abs(close - open) / open) * 100
  const rounded = roundByDouble(size, PERCENT_DECIMALS)
  if (rounded !== undefined) return close < open ? 0 - rounded : rounded
  const start = decimalOf(open)
  const change = multiply(decimalOf(100), subtract(decimalOf(close), start))
  return toNumber(divide(change, start, PERCENT_DECIMALS))
}

/**
 * Returns the exact decimal product of two numbers, each in its shortest decimal form, rounded once to the nearest double:
 * 0.1 × 3 is 0.3. Returns ±Infinity beyond the range of doubles, and never −0.
 */
export function exactProduct(left: number, right: number): number {
  if (left < 0) return 0 - exactProduct(-left, right)
  if (right < 0) return 0 - exactProduct(left, -right)
  const ofLeft = printedDecimals(left)
  const ofRight = printedDecimals(right)
  const product = withoutPoint(left, ofLeft) * withoutPoint(right, ofRight)
  // The quotient of two integers that are exact doubles is rounded only once.
  if (product <= Number.MAX_SAFE_INTEGER && ofLeft + ofRight < POWERS_OF_TEN.length) {
    return product / powerOfTen(ofLeft + ofRight) + 0
  }
  return toNumber(multiply(decimalOf(left), decimalOf(right)))
}

/** As `toDecimal`, several times faster for numbers of up to 15 digits. */
function decimalOf(value: number): Decimal {
  const decimals = printedDecimals(Math.abs(value))
  if (Number.isNaN(decimals)) return toDecimal(value)
  return { digits: BigInt(withoutPoint(value, decimals)), exponent: -decimals }
}

/** Returns the number of decimals in the shortest form of `value` (not negative); NaN if that has more than 15 digits. */
function printedDecimals(value: number): number {
  for (let decimals = 0; decimals < POWERS_OF_TEN.length; decimals += 1) {
    const whole = withoutPoint(value, decimals)
    if (whole >= MAX_PRINTED) return NaN
    if (whole / powerOfTen(decimals) === value) return decimals
  }
  return NaN
}

export function withoutPoint(value: number, decimals: number): number {
  return Math.round(value * powerOfTen(decimals))
}

/** Returns the number of decimals of `value` (positive) with 10 significant digits; negative for more than 10 whole digits. */
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

function toSignificant(approximate: number): number | undefined {
  return roundByDouble(approximate, significantDecimals(approximate))
}

function exactQuotient(dividend: Decimal, divisor: Decimal): number {
  return toNumber(divideSignificant(dividend, divisor, SIGNIFICANT_DIGITS))
}

/** Rounds half up. Undefined (rare) if the error of `approximate` could change the result, or it has too many digits. */
function roundByDouble(approximate: number, decimals: number): number | undefined {
  const power = powerOfTen(decimals)
  const scaled = approximate * power
  const fraction = scaled - Math.floor(scaled)
  if (scaled >= DOUBLE_DECIDES_BELOW || !(Math.abs(fraction - 0.5) > TIE_MARGIN)) return undefined
  return Math.round(scaled) / power
}

/** Returns 10^`power`, or NaN if that is not an exact double. */
export function powerOfTen(power: number): number {
  return POWERS_OF_TEN[power] ?? NaN
}

/** Returns `left` − `right`, rounded once to the nearest double; never −0. */
export function exactDifference(left: number, right: number): number {
  return toNumber(subtract(decimalOf(left), decimalOf(right)))
}

/**
 * The significant digits that a double always keeps. Rounding a product to a double and printing it adds a relative error of
 * at most twice 2⁻⁵³, less than 3 × 10⁻¹⁶; half a unit of the 15th digit is at least 5 × 10⁻¹⁶. So dividing the product
 * returns the amount exactly, if the amount has at most 15 digits.
 */
const KEPT_DIGITS = 15

/**
 * Returns the amount that converts to `result` at `rate` (positive): the exact decimal quotient of the two, each in its
 * shortest decimal form, rounded to 15 significant digits, half away from zero. Returns ±Infinity beyond the range of doubles,
 * the nearest double close to 0, where doubles have fewer digits, and never −0.
 */
export function amountNeeded(result: number, rate: number): number {
  return toNumber(divideSignificant(decimalOf(result), decimalOf(rate), KEPT_DIGITS))
}

export const MAX_AMOUNT_CHARACTERS = 64

/** Returns whether `text` is a plain decimal that is finite as a double, and 0 as a double only if it is 0. */
export function isAmount(text: string): boolean {
  if (text.length > MAX_AMOUNT_CHARACTERS) return false
  if (!/^(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/.test(text)) return false
  const value = Number(text)
  return Number.isFinite(value) && (value !== 0 || !/^[^eE]*[1-9]/.test(text))
}
