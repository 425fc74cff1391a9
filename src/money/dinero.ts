import { ONE, digitsAt, divide } from '../rates/decimal.ts'
import { assertOptions, readDecimal } from './amounts.ts'

/** The number `amount` × 10^-`scale`, as in dinero.js. */
export interface ScaledAmount<Integer> {
  /** An integer; a number is at most `Number.MAX_SAFE_INTEGER`. */
  readonly amount: Integer
  /** Digits after the decimal point. */
  readonly scale: Integer
}

/** A response with rates: of the latest rates, or of a conversion or quote to one or several currencies. */
export type RatesSource<Code extends string> =
  | { readonly base?: string; readonly rates: Readonly<Partial<Record<Code, number>>> }
  | ({ readonly from?: string; readonly to: Code } & AnyRate)
  | { readonly from?: string; readonly results: Readonly<Partial<Record<Code, AnyRate>>> }

/** A rate, and the one that takes its place in a quote with a markup. */
interface AnyRate {
  readonly rate: number
  readonly quotedRate?: number | undefined
}

/** Doubles with more digits are not exact decimals. */
const EXACT_DIGITS = 15

function ratesOf(source: RatesSource<string>): readonly (readonly [string, number | undefined])[] {
  if ('rates' in source) return Object.entries(source.rates)
  if ('results' in source) {
    return Object.entries(source.results).map(([code, result]) => [code, result && rateOf(result)])
  }
  return [[source.to, rateOf(source)]]
}

function rateOf({ rate, quotedRate = rate }: AnyRate): number {
  return quotedRate
}

/**
 * Returns the rates of a response of `latest` or `convert` for `convert` of dinero.js 2, each as an exact decimal: they apply
 * to amounts in the base, or in `from`. With `bigint`, they are for `dinero.js/bigint`, and products of any size stay exact.
 * Without it, rates of more than 15 digits are rounded to 15 if their integer is not safe; a product with an amount
 * must not exceed `Number.MAX_SAFE_INTEGER`, which dinero.js does not check.
 *
 * @throws {TypeError} unless every rate is a finite number
 * @throws {RangeError} for a rate of 2^53 or more, unless `bigint` is set
 * @example
 * ```ts
 * import { toDineroRates } from 'ratesmith/money'
 *
 * const rates = toDineroRates({ base: 'USD', rates: { EUR: 0.8456, JPY: 156.25 } })
 * console.log(rates.EUR) // { amount: 8456, scale: 4 }
 * ```
 */
export function toDineroRates<Code extends string>(
  source: RatesSource<Code>,
  options: { bigint: true },
): Record<Code, ScaledAmount<bigint>>
export function toDineroRates<Code extends string>(
  source: RatesSource<Code>,
  options?: { bigint?: false | undefined },
): Record<Code, ScaledAmount<number>>
export function toDineroRates(
  source: RatesSource<string>,
  options: { bigint?: boolean | undefined } = {},
): Record<string, ScaledAmount<bigint | number>> {
  assertOptions(options, ['bigint'])
  const { bigint = false } = options
  const scaled = ratesOf(source).flatMap(([code, rate]) =>
    rate === undefined ? [] : [[code, bigint ? toScaled(rate) : toSafe(rate)] as const],
  )
  return Object.fromEntries(scaled)
}

function toScaled(rate: number): ScaledAmount<bigint> {
  const decimal = readDecimal(rate, 'rate')
  const exponent = Math.min(0, decimal.exponent)
  return { amount: digitsAt(decimal, exponent), scale: BigInt(-exponent) }
}

function toSafe(rate: number): ScaledAmount<number> {
  const { amount, scale } = toScaled(rate)
  const extra = isSafe(amount) ? 0 : Math.min(String(amount).length - EXACT_DIGITS, Number(scale))
  const { digits } = divide({ digits: amount, exponent: 0 }, ONE, -extra)
  if (!isSafe(digits)) throw new RangeError(`rate ${rate} is not a safe integer; use bigint`)
  return { amount: Number(digits), scale: Number(scale) - extra }
}

function isSafe(amount: bigint): boolean {
  return Number.isSafeInteger(Number(amount))
}
