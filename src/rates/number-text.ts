import { SIGNIFICANT_DIGITS, powerOfTen, significantDecimals, withoutPoint } from './rounding.ts'

const ZERO = 0x30
const POINT = 0x2e

/** Below the first JavaScript prints an exponent; from the second on a number has more whole digits than are written. */
const LEAST_PLAIN = 1e-6
const MOST_PLAIN = 1e10

/** The most bytes that a positive number takes. */
export const LONGEST_NUMBER = 24

/**
 * Writes `value`, positive, into `bytes` at `at` as JSON has it; returns the index behind it. What has up to 10 significant
 * digits, as rates do, is written digit by digit, much faster than by way of a text. There must be room for the longest.
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const decimals = significantDecimals(value)
  const digits = withoutPoint(value, decimals)
  const isPlain = value >= LEAST_PLAIN && value < MOST_PLAIN
  if (!isPlain || digits / powerOfTen(decimals) !== value) return writeText(bytes, at, value)
  const point = SIGNIFICANT_DIGITS - decimals
  if (point <= 0) return writeSmall(bytes, at, digits, -point)
  writeDigits(bytes, at + 1, digits)
  for (let index = at; index < at + point; index += 1) bytes[index] = bytes[index + 1] ?? 0
  if (decimals === 0) return at + point
  bytes[at + point] = POINT
  const end = behindLastDigit(bytes, at + SIGNIFICANT_DIGITS)
  return bytes[end - 1] === POINT ? end - 1 : end
}

/** Writes a number below 1 that has so many `zeros` behind the point before its `digits`. */
function writeSmall(bytes: Uint8Array, at: number, digits: number, zeros: number): number {
  const start = at + 2 + zeros
  for (let index = at; index < start; index += 1) bytes[index] = ZERO
  bytes[at + 1] = POINT
  writeDigits(bytes, start, digits)
  return behindLastDigit(bytes, start + SIGNIFICANT_DIGITS - 1)
}

/** Writes a whole number of ten digits. */
function writeDigits(bytes: Uint8Array, at: number, digits: number): void {
  const high = Math.floor(digits / 100_000)
  writeFive(bytes, at, high)
  writeFive(bytes, at + 5, digits - high * 100_000)
}

/** Writes five digits of a number that every engine treats as a small integer. */
function writeFive(bytes: Uint8Array, at: number, digits: number): void {
  const thousands = (digits / 1_000) | 0
  const rest = digits - thousands * 1_000
  const tens = (thousands / 10) | 0
  const hundreds = (rest / 100) | 0
  const last = rest - hundreds * 100
  const beforeLast = (last / 10) | 0
  bytes[at] = ZERO + tens
  bytes[at + 1] = ZERO + thousands - tens * 10
  bytes[at + 2] = ZERO + hundreds
  bytes[at + 3] = ZERO + beforeLast
  bytes[at + 4] = ZERO + last - beforeLast * 10
}

/** The index behind the last byte up to `last` that is no zero. */
function behindLastDigit(bytes: Uint8Array, last: number): number {
  let index = last
  while (bytes[index] === ZERO) index -= 1
  return index + 1
}

/** Writes `value` as JavaScript prints it. */
function writeText(bytes: Uint8Array, at: number, value: number): number {
  return at + new TextEncoder().encodeInto(String(value), bytes.subarray(at)).written
}
