import {
  SIGNIFICANT_DIGITS,
  powerOfTen,
  significantDecimals,
  withoutPoint,
} from '../rates/arithmetic.ts'
import type { Day } from '../rates/dates.ts'
import type { PairSeries } from '../rates/series.ts'
import type { PairHistory, PairRange } from './history.ts'

const encoder = new TextEncoder()

/** Copying words of 4 bytes is several times faster than single bytes, and than `set` for short texts. */
const WORD = 4

export interface HistoryFrame {
  before: string
  /** Text between a rate and the next separator. */
  rateEnd: string
  after: string
  /** Writes the points as `writePoints` does (the default), with ends that are not longer than `rateEnd`. */
  write?: typeof writePoints
}

export interface HistoryFormat {
  /** ASCII text between points. */
  separator: string
  /** Returns the text of a point up to its rate: ASCII, the same length for every day. */
  pointStart(day: Day): string
  frameOf(history: PairHistory | PairRange): HistoryFrame
}

/** Writes a history as UTF-8 without creating an object per point. */
export type HistoryWriter = (history: PairHistory | PairRange) => Uint8Array<ArrayBuffer>

/** The same JSON as `JSON.stringify` of a `RateHistory` or `HistoryRange`. */
export const JSON_HISTORY: HistoryFormat = {
  separator: '},',
  pointStart: (day) => `{"d":"${day}","r":`,
  frameOf: ({ series: _series, stats, source, ...head }) => ({
    before: `${JSON.stringify(head).slice(0, -1)},"points":[`,
    rateEnd: '',
    after: `}],${JSON.stringify({ stats, source }).slice(1)}`,
  }),
}

export function createHistoryWriter(format: HistoryFormat): HistoryWriter {
  const { separator } = format
  let buffer = new Uint8Array()
  const startsOf = new WeakMap<readonly Day[], Words>()

  return (history) => {
    const { series } = history
    const frame = format.frameOf(history)
    const [before, after] = [encoder.encode(frame.before), encoder.encode(frame.after)]
    const rateEnd = toWords([frame.rateEnd])
    let starts = startsOf.get(series.dates)
    if (!starts) {
      starts = toWords(series.dates.map((day) => `${separator}${format.pointStart(day)}`))
      startsOf.set(series.dates, starts)
    }
    const pointSize = starts.paddedLength + MAX_NUMBER_LENGTH + rateEnd.paddedLength
    const size = before.length + series.rates.length * pointSize + after.length
    if (buffer.length < size) buffer = new Uint8Array(size)
    const points = { series, starts, rateEnd, first: 0, last: series.rates.length }
    // `before` overwrites the separator of the first point.
    const at = before.length - separator.length
    const { write = writePoints } = frame
    const end = write(new DataView(buffer.buffer), at, points)
    buffer.set(before)
    buffer.set(after, end)
    return buffer.slice(0, end + after.length)
  }
}

/** Texts of equal length, each padded to whole words; lengths in bytes. */
export interface Words {
  view: DataView
  length: number
  paddedLength: number
}

export function toWords(texts: readonly string[]): Words {
  const { length } = encoder.encode(texts[0])
  const paddedLength = Math.ceil(length / WORD) * WORD
  const padding = ' '.repeat(paddedLength - length)
  const bytes = encoder.encode(texts.map((text) => `${text}${padding}`).join(''))
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), length, paddedLength }
}

export interface Points {
  series: PairSeries
  starts: Words
  rateEnd: Words
  first: number
  /** Index after the last point. */
  last: number
}

/** Writes the points from offset `at`; returns the end of the last rate. Up to 3 bytes after each text are overwritten. */
export function writePoints(
  view: DataView,
  at: number,
  { series, starts, rateEnd, first, last }: Points,
): number {
  const { rows, rates } = series
  // One loop with local variables, for speed.
  const { view: startTexts, paddedLength: startSize, length: startLength } = starts
  const { view: endText, paddedLength: endSize, length: endLength } = rateEnd
  let end = at - endLength
  for (let index = first; index < last; index += 1) {
    const start = end + endLength
    const from = (rows[index] ?? 0) * startSize
    for (let offset = 0; offset < startSize; offset += WORD) {
      view.setInt32(start + offset, startTexts.getInt32(from + offset))
    }
    end = writeNumber(view, start + startLength, rates[index] ?? NaN)
    for (let offset = 0; offset < endSize; offset += WORD) {
      view.setInt32(end + offset, endText.getInt32(offset))
    }
  }
  return end
}

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

const MAX_NUMBER_LENGTH = 24

/**
 * Numbers with up to 10 significant digits, such as rates, are written without a string, which takes many times longer.
 * `view` must have room for `MAX_NUMBER_LENGTH` bytes.
 */
function writeNumber(view: DataView, at: number, value: number): number {
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
