import { ONE, divide, multiply, parseDecimal, toText } from '../rates/decimal.ts'
import type { Decimal, IsAway } from '../rates/decimal.ts'
import { cashStepOf, digitsOf } from './minor-units.ts'

/** Maximum length of a decimal string, in characters: that of the longest double without an exponent, with room. */
const MAX_CHARACTERS = 400

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

const up: IsAway = (_, isNegative) => !isNegative
const down: IsAway = (_, isNegative) => isNegative
const away: IsAway = () => true
const toZero: IsAway = () => false
const toEven: IsAway = (_half, _isNegative, isOdd) => isOdd

const half =
  (atTie: IsAway): IsAway =>
  (half, ...rest) =>
    half ? half > 0 : atTie(half, ...rest)

const MODES: Readonly<Record<RoundingMode, IsAway>> = {
  ceil: up,
  floor: down,
  expand: away,
  trunc: toZero,
  halfCeil: /* @__PURE__ */ half(up),
  halfFloor: /* @__PURE__ */ half(down),
  halfExpand: /* @__PURE__ */ half(away),
  halfTrunc: /* @__PURE__ */ half(toZero),
  halfEven: /* @__PURE__ */ half(toEven),
}

/**
 * Reads a decimal; a number is its shortest decimal form, such as 0.1. `name` is its name in errors.
 *
 * @throws {TypeError} unless `value` is a finite number or a decimal string
 * @throws {RangeError} if the string is longer than 400 characters
 */
export function readDecimal(value: number | string, name = 'value'): Decimal {
  const text = String(value)
  if (text.length > MAX_CHARACTERS) {
    throw new RangeError(`${name} must have at most ${MAX_CHARACTERS} characters`)
  }
  const isNumeric = typeof value === 'number' || typeof value === 'string'
  const decimal = isNumeric ? parseDecimal(text) : undefined
  if (decimal) return decimal
  throw new TypeError(
    `${name} must be a number or a decimal such as '12.50', got ${JSON.stringify(text.slice(0, 40))}`,
  )
}

/** @throws {TypeError} that names the unknown option */
export function assertOptions(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new TypeError(`unknown option "${unknown}"; known options: ${known.join(', ')}`)
}

/** Options of `roundTo`. */
export interface RoundingOptions {
  /** How to round between two amounts, as in `roundingMode` of `Intl.NumberFormat` (default `halfExpand`). */
  mode?: RoundingMode | undefined
  /** Whether to round to amounts that can be paid in cash, such as 0.05 CHF, by CLDR (default false). */
  cash?: boolean | undefined
}

/**
 * Rounds `dividend` / `divisor` (positive) to a multiple of the smallest amount of `code`, with the digits of `code`; without a
 * mode half away from zero, or by `isAway`.
 */
export function roundToUnits(
  dividend: Decimal,
  code: string,
  options: RoundingOptions,
  divisor: Decimal = ONE,
  isAway?: IsAway,
): Decimal {
  assertOptions(options, ['mode', 'cash'])
  const { mode, cash } = options
  if (mode !== undefined && !Object.hasOwn(MODES, mode)) {
    throw new TypeError(`mode must be a roundingMode of Intl.NumberFormat, got ${mode}`)
  }
  const step = { digits: cash ? cashStepOf(code) : 1n, exponent: -digitsOf(code) }
  const units = divide(dividend, multiply(divisor, step), 0, mode ? MODES[mode] : isAway)
  return multiply(units, step)
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
  return toText(roundToUnits(readDecimal(value), code, options))
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
  const exact = (): never => {
    throw new RangeError(
      `value must be a whole number of minor units of ${code}, got ${value}; use mode to round`,
    )
  }
  const isAway = options.cash ? undefined : exact
  return roundToUnits(readDecimal(value), code, options, ONE, isAway).digits
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
  return toText({ digits: BigInt(units), exponent: -digitsOf(code) })
}
