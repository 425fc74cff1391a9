import { SIGNIFICANT_DIGITS, powerOfTen, significantDecimals, withoutPoint } from './rounding.ts'

const ZERO = 0x30
const POINT = 0x2e

/** Below the first JavaScript prints an exponent; from the second on a number has more whole digits than are written. */
const LEAST_PLAIN = 1e-6
const MOST_PLAIN = 1e10

/** Half of the digits make a number that every engine treats as a small integer. */
const HALF = SIGNIFICANT_DIGITS / 2

/** The most bytes that a positive number takes. */
export const LONGEST_NUMBER = 24

/**
 * Writes `value`, positive, into `bytes` at `at` as JSON has it; returns the index behind it. What has up to 10 significant
 * digits, as rates do, is written digit by digit, much faster than by way of a text.
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const decimals = significantDecimals(value)
  const digits = withoutPoint(value, decimals)
  const isPlain = value >= LEAST_PLAIN && value < MOST_PLAIN
  if (!isPlain || digits / powerOfTen(decimals) !== value) return writeText(bytes, at, value)
  const point = SIGNIFICANT_DIGITS - decimals
  return writeDigits(bytes, point > 0 ? at : writeZeros(bytes, at, -point), digits, point)
}

/** Writes ten `digits`, the first `point` of them before the decimal point, without zeros at the end of the decimals. */
function writeDigits(bytes: Uint8Array, at: number, digits: number, point: number): number {
  const high = Math.floor(digits / powerOfTen(HALF))
  const isCut = point > 0 && point < SIGNIFICANT_DIGITS
  let rest = digits - high * powerOfTen(HALF)
  for (let index = SIGNIFICANT_DIGITS - 1; index >= 0; index -= 1) {
    if (index === HALF - 1) rest = high
    const tens = (rest / 10) | 0
    bytes[at + index + (isCut && index >= point ? 1 : 0)] = ZERO + rest - tens * 10
    rest = tens
  }
  if (isCut) bytes[at + point] = POINT
  const end = at + SIGNIFICANT_DIGITS + (isCut ? 1 : 0)
  return point < SIGNIFICANT_DIGITS ? trimmed(bytes, end) : end
}

/** `end` without the zeros before it, and the point before those. */
function trimmed(bytes: Uint8Array, end: number): number {
  let last = end - 1
  while (bytes[last] === ZERO) last -= 1
  return bytes[last] === POINT ? last : last + 1
}

/** Writes a zero, the point and `zeros` more. */
function writeZeros(bytes: Uint8Array, at: number, zeros: number): number {
  bytes.fill(ZERO, at, at + 2 + zeros)
  bytes[at + 1] = POINT
  return at + 2 + zeros
}

/** Writes `value` as JavaScript prints it. */
function writeText(bytes: Uint8Array, at: number, value: number): number {
  return at + new TextEncoder().encodeInto(String(value), bytes.subarray(at)).written
}
