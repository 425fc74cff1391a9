import { SIGNIFICANT_DIGITS, powerOfTen, significantDecimals, withoutPoint } from './arithmetic.ts'

const ZERO = 0x30
const POINT = 0x2e

/** JavaScript prints smaller numbers with an exponent. */
const MIN_PLAIN = 1e-6

/** The three digits of every number below 1,000 as bytes, the first digit in the lowest byte. */
const TRIPLES = Int32Array.from({ length: 1_000 }, (_, value) => {
  const [hundreds, tens] = [Math.floor(value / 100), Math.floor(value / 10)]
  return [hundreds, tens - hundreds * 10, value - tens * 10].reduceRight(
    (bytes, digit) => (bytes << 8) | (ZERO + digit),
    0,
  )
})

export const MAX_NUMBER_LENGTH = 24

/**
 * Numbers with up to 10 significant digits, such as rates, are written without a string, which takes many times longer.
 * `view` must have room for `MAX_NUMBER_LENGTH` bytes.
 */
export function writeNumber(view: DataView, at: number, value: number): number {
  const decimals = significantDecimals(value)
  const digits = withoutPoint(value, decimals)
  // With more than 10 whole digits, `digits` is NaN.
  const isWhole = digits / powerOfTen(decimals) === value
  if (value < MIN_PLAIN || !isWhole) return writeText(view, at, value)
  const point = SIGNIFICANT_DIGITS - decimals
  if (point <= 0) return writeSmall(view, at, digits, -point)
  writeDigits(view, at + 1, digits)
  for (let index = at; index < at + point; index += 1) {
    view.setUint8(index, view.getUint8(index + 1))
  }
  view.setUint8(at + point, POINT)
  const end = endWithoutZeros(view, at + SIGNIFICANT_DIGITS)
  return end === at + point + 1 ? end - 1 : end
}

function writeSmall(view: DataView, at: number, digits: number, zeros: number): number {
  const start = at + 2 + zeros
  for (let index = at; index < start; index += 1) view.setUint8(index, ZERO)
  view.setUint8(at + 1, POINT)
  writeDigits(view, start, digits)
  return endWithoutZeros(view, start + SIGNIFICANT_DIGITS - 1)
}

/** Writes ten digits in groups of three. Each write has a fourth byte, which the next one overwrites. */
function writeDigits(view: DataView, at: number, digits: number): void {
  const high = Math.floor(digits / 1_000_000)
  const low = digits - high * 1_000_000
  const first = (high / 1_000) | 0
  const third = (low / 1_000) | 0
  view.setUint8(at, ZERO + first)
  view.setInt32(at + 1, TRIPLES[high - first * 1_000] ?? 0, true)
  view.setInt32(at + 4, TRIPLES[third] ?? 0, true)
  view.setInt32(at + 7, TRIPLES[low - third * 1_000] ?? 0, true)
}

function endWithoutZeros(view: DataView, last: number): number {
  let index = last
  while (view.getUint8(index) === ZERO) index -= 1
  return index + 1
}

function writeText(view: DataView, at: number, value: number): number {
  const text = String(value)
  for (let index = 0; index < text.length; index += 1) {
    view.setUint8(at + index, text.charCodeAt(index))
  }
  return at + text.length
}
