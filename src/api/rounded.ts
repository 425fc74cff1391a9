import { invalidParameter } from '../errors.ts'
import { roundToUnits } from '../money/amounts.ts'
import { findDigits } from '../money/minor-units.ts'
import { quotient } from '../rates/arithmetic.ts'
import { findSuccession } from '../rates/currency-code.ts'
import type { Day } from '../rates/dates.ts'
import { ONE, multiply, toDecimal, toText } from '../rates/decimal.ts'
import type { Decimal } from '../rates/decimal.ts'
import { toFixedRate } from '../rates/rate-table.ts'

/** Smallest amounts to which results are rounded: the minor unit of the currency, or the smallest amount in cash. */
export type Rounding = 'minor' | 'cash'

/** A product of `amount` and `rate`, or with `reverse` their quotient. */
export interface Product {
  from: string
  to: string
  /** Day of the rate. */
  day: Day
  /** May be negative; a text is a decimal that keeps all its digits. */
  amount: number | string
  rate: number
  reverse: boolean
}

/** Returns a legal ratio as `[dividend, divisor]`: 1/24 has no decimal form. */
function ratioParts(ratio: number): readonly [Decimal, Decimal] {
  const isInverse = Number.isInteger(1 / ratio)
  return isInverse ? [ONE, toDecimal(1 / ratio)] : [toDecimal(ratio), ONE]
}

/**
 * Returns `rate` as `[dividend, divisor]`. Where it is the ratio that a law fixed between a withdrawn currency and its
 * successor, or between two currencies with one successor, that ratio itself, which `rate` may only have to 10 digits.
 */
function partsOf({ from, to, day, rate }: Product): readonly [Decimal, Decimal] {
  const [one, other] = [from, to].map((code) => {
    return findSuccession(code, day) ?? { successor: code, ratio: 1 }
  })
  if (one?.ratio && other?.ratio && one.successor === other.successor) {
    const { ratio } = other
    if (
      rate === quotient(ratio, one.ratio) ||
      toFixedRate(rate) === toFixedRate(ratio / one.ratio)
    ) {
      const [own, target] = [ratioParts(one.ratio), ratioParts(ratio)]
      return [multiply(target[0], own[1]), multiply(target[1], own[0])]
    }
  }
  return [toDecimal(rate), ONE]
}

/**
 * Returns the exact result rounded to its currency, half away from zero; at a ratio that a law fixed, with one division.
 *
 * @throws {RatesError} `invalid_parameter` if the currency has no minor unit
 */
export function roundResult(product: Product, round: Rounding): string {
  const code = product.reverse ? product.from : product.to
  if (typeof findDigits(code) !== 'number') {
    throw invalidParameter('round', `${code} has no minor unit`)
  }
  const [units, per] = partsOf(product)
  const [factor, divisor] = product.reverse ? [per, units] : [units, per]
  const dividend = multiply(toDecimal(product.amount), factor)
  return toText(roundToUnits(dividend, code, { cash: round === 'cash' }, divisor))
}
