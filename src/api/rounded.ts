import { invalidParameter } from '../errors.ts'
import { roundToUnits } from '../money/amounts.ts'
import { toDecimal, toFraction, toText } from '../money/decimal.ts'
import type { Fraction } from '../money/decimal.ts'
import { findDigits } from '../money/minor-units.ts'
import type {
  ConversionListParams,
  ConversionResult,
  ConvertedAmount,
  RoundedAmount,
  Rounding,
} from './convert.ts'

type AnyConversion = ConversionResult<ConversionListParams>

/**
 * Returns `conversion` with `rounded` after each `result`: the exact product or quotient rounded to the currency of the result,
 * half away from zero.
 *
 * @throws {RatesError} `invalid_parameter` if that currency has no minor unit
 */
export function withRounded(conversion: AnyConversion, round: Rounding): AnyConversion {
  const { from, amount, reverse = false } = conversion
  const toRounded = (to: string, rate: number): string =>
    roundResult({ amount, rate, reverse, code: reverse ? from : to }, round)
  if ('results' in conversion) {
    const { results } = conversion
    const entries = Object.entries(results).map(([to, { rate, result }]) => {
      const each: ConvertedAmount & RoundedAmount = { rate, result, rounded: toRounded(to, rate) }
      return [to, each] as const
    })
    return { ...conversion, results: Object.fromEntries(entries) }
  }
  const { from: source, to, amount: given, rate, result, ...rest } = conversion
  const rounded = toRounded(to, rate)
  return { from: source, to, amount: given, rate, result, rounded, ...rest }
}

interface Product {
  amount: number
  rate: number
  reverse: boolean
  /** Currency of the result. */
  code: string
}

function roundResult({ amount, rate, reverse, code }: Product, round: Rounding): string {
  const digits = findDigits(code)
  if (digits === undefined) throw invalidParameter('round', `${code} has no minor unit`)
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
