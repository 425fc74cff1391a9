import { invalidParameter } from '../errors.ts'
import { roundToUnits } from '../money/amounts.ts'
import { findDigits } from '../money/minor-units.ts'
import { multiply, toDecimal, toText } from '../rates/decimal.ts'

/** Smallest amounts to which results are rounded: the minor unit of the currency, or the smallest amount in cash. */
export type Rounding = 'minor' | 'cash'

/** A product of `amount` and `rate`, or with `reverse` their quotient. */
export interface Product {
  /** May be negative; a text is a decimal that keeps all its digits. */
  amount: number | string
  rate: number
  reverse: boolean
  code: string
}

/**
 * Returns the exact result rounded to its currency, half away from zero.
 *
 * @throws {RatesError} `invalid_parameter` if the currency has no minor unit
 */
export function roundResult({ amount, rate, reverse, code }: Product, round: Rounding): string {
  if (typeof findDigits(code) !== 'number') {
    throw invalidParameter('round', `${code} has no minor unit`)
  }
  const [left, right] = [toDecimal(amount), toDecimal(rate)]
  const options = { cash: round === 'cash' }
  return toText(
    reverse
      ? roundToUnits(left, code, options, right)
      : roundToUnits(multiply(left, right), code, options),
  )
}
