import { findSuccession, findWithdrawal } from '../rates/currency-code.ts'
import type { Day } from '../rates/dates.ts'
import { fixedRatioText } from './resolve-code.ts'

export interface FixedRatio {
  code: string
  /** Code of the first successor that is not withdrawn. */
  successor: string
  /** Units of the withdrawn currency for one unit of the successor, fixed by law. */
  ratio: number
  note: string
}

export function findFixedRatio(sent: string, day: Day): FixedRatio | undefined {
  const code = sent.toUpperCase()
  const withdrawal = findWithdrawal(code)
  const succession = findSuccession(code, day)
  if (!withdrawal || !succession || succession.ratio === null) return undefined
  const { successor, ratio } = succession
  const text = fixedRatioText(code, successor, ratio)
  const note = `${code} was withdrawn on ${withdrawal.withdrawnAt}: converted at the fixed ratio${text}`
  return { code, successor, ratio, note }
}

/** A decimal: `digits` / 10 ** `scale`. */
interface Decimal {
  digits: bigint
  scale: number
}

/**
 * Returns the product of `dividends` over that of `divisors` (positive), each number in its shortest decimal form. If the
 * divisors are powers of ten, the quotient is exact, and rounded once to the nearest double; otherwise it has `significant`
 * digits, rounded half up.
 */
export function exactFraction(
  dividends: readonly number[],
  divisors: readonly number[],
  significant: number,
): number {
  const [over, under] = [productOf(dividends), productOf(divisors)]
  const exponent = under.scale - over.scale
  if (over.digits === 0n) return 0
  if (under.digits === 1n) return Number(`${over.digits}e${exponent}`)
  const shift = significant + 1 + String(under.digits).length - String(over.digits).length
  const quotient =
    (over.digits * 10n ** BigInt(Math.max(0, shift))) /
    (under.digits * 10n ** BigInt(Math.max(0, -shift)))
  const extra = Math.max(0, String(quotient).length - significant)
  const unit = 10n ** BigInt(extra)
  return Number(`${(quotient + unit / 2n) / unit}e${exponent - shift + extra}`)
}

function productOf(values: readonly number[]): Decimal {
  return values.map(toDecimal).reduce(
    (product, { digits, scale }) => ({
      digits: product.digits * digits,
      scale: product.scale + scale,
    }),
    { digits: 1n, scale: 0 },
  )
}

function toDecimal(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  return { digits: BigInt(all), scale: fraction.length - Number(exponent) }
}
