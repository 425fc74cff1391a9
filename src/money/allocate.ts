import { digitsAt } from '../rates/decimal.ts'
import { fromMinorUnits, readDecimal, toMinorUnits } from './amounts.ts'

const MAX_PARTS = 10_000

/**
 * Divides an amount into parts whose sum is exactly the amount: by ratios, or into a number of equal parts. Minor units that
 * remain go one each to the parts with the largest remainders, the first ones among equals. A part with the ratio 0 is 0.
 *
 * @throws {RangeError} if the amount is not a whole number of minor units, a ratio is negative, all ratios are 0, or the number
 *   of parts is not an integer from 1 to 10,000
 * @throws {TypeError} as `roundTo`
 * @example
 * ```ts
 * import { allocate } from 'ratesmith/money'
 *
 * console.log(allocate('100.00', 3, 'USD')) // [ '33.34', '33.33', '33.33' ]
 * console.log(allocate('0.05', [7, 3], 'EUR')) // [ '0.04', '0.01' ]
 * ```
 */
export function allocate(
  amount: number | string,
  parts: number | readonly (number | string)[],
  code: string,
): string[] {
  const units = toMinorUnits(amount, code)
  const weights = toWeights(parts)
  const size = units < 0n ? -units : units
  const shares = divide(size, weights)
  return shares.map((share) => fromMinorUnits(units < 0n ? -share : share, code))
}

function toWeights(parts: number | readonly (number | string)[]): bigint[] {
  const count = typeof parts === 'number' ? parts : parts.length
  if (!(Number.isInteger(count) && count >= 1 && count <= MAX_PARTS)) {
    throw new RangeError(`the number of parts must be an integer from 1 to ${MAX_PARTS}`)
  }
  if (typeof parts === 'number') return Array.from({ length: count }, () => 1n)
  const ratios = parts.map((ratio) => readDecimal(ratio, 'ratio'))
  const least = Math.min(...ratios.map(({ exponent }) => exponent))
  const weights = ratios.map((ratio) => digitsAt(ratio, least))
  if (weights.some((weight) => weight < 0n) || weights.every((weight) => weight === 0n)) {
    throw new RangeError('ratios must not be negative, and one must be positive')
  }
  return weights
}

/** Divides `size` (not negative) in the proportion of `weights`, by largest remainders. */
function divide(size: bigint, weights: readonly bigint[]): bigint[] {
  let total = 0n
  for (const weight of weights) total += weight
  const shares = weights.map((weight) => (size * weight) / total)
  let left = size
  for (const share of shares) left -= share
  const byRemainder = weights
    .map((weight, index) => ({ index, remainder: (size * weight) % total }))
    .sort((one, other) => Number(other.remainder - one.remainder))
  for (const { index } of byRemainder.slice(0, Number(left)))
    shares[index] = (shares[index] ?? 0n) + 1n
  return shares
}
