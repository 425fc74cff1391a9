import { invalidParameter } from '../errors.ts'
import { roundToUnits } from '../money/amounts.ts'
import { toDecimal, toFraction, toText } from '../money/decimal.ts'
import type { Fraction } from '../money/decimal.ts'
import { findDigits } from '../money/minor-units.ts'

/** Smallest amounts to which results are rounded: the minor unit of the currency, or the smallest amount in cash. */
export type Rounding = 'minor' | 'cash'

/** A product of `amount` and `rate`, or with `reverse` their quotient. */
export interface Product {
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
  const digits = findDigits(code)
  if (typeof digits !== 'number') throw invalidParameter('round', `${code} has no minor unit`)
  const [left, right] = [toFraction(toDecimal(amount)), toFraction(toDecimal(rate))]
  const exact = reverse ? productOf(left, inverse(right)) : productOf(left, right)
  return toText(roundToUnits(exact, code, { cash: round === 'cash' }), digits)
}

function productOf(left: Fraction, right: Fraction): Fraction {
  return {
    numerator: left.numerator * right.numerator,
    denominator: left.denominator * right.denominator,
  }
}

function inverse({ numerator, denominator }: Fraction): Fraction {
  return { numerator: denominator, denominator: numerator }
}
