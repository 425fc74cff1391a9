import type { Day } from '../rates/day.ts'
import { MAX_NUMBER_LENGTH, writeNumber } from '../rates/number-text.ts'
import type { PairSeries } from '../rates/pair-series.ts'
import type { PairRange } from './history-range.ts'
import type { PairHistory } from './history.ts'

const encoder = new TextEncoder()

/** Copying words of 4 bytes is several times faster than single bytes, and than `set` for short texts. */
const WORD = 4

interface HistoryFrame {
  before: string
  /** Text between a rate and the next separator. */
  rateEnd: string
  after: string
}

/** A format for histories: a frame with separated points. */
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

/** Creates a writer, which reuses its buffer and caches the text that all pairs of a market share. */
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
    const points = { series, starts, rateEnd }
    // `before` overwrites the separator of the first point.
    const at = before.length - separator.length
    const end = writePoints(new DataView(buffer.buffer), at, points)
    buffer.set(before)
    buffer.set(after, end)
    return buffer.slice(0, end + after.length)
  }
}

/** Texts of equal length, each padded to whole words; lengths in bytes. */
interface Words {
  view: DataView
  length: number
  paddedLength: number
}

function toWords(texts: readonly string[]): Words {
  const { length } = encoder.encode(texts[0])
  const paddedLength = Math.ceil(length / WORD) * WORD
  const padding = ' '.repeat(paddedLength - length)
  const bytes = encoder.encode(texts.map((text) => `${text}${padding}`).join(''))
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), length, paddedLength }
}

interface Points {
  series: PairSeries
  starts: Words
  rateEnd: Words
}

/** Writes the points from offset `at`; returns the end of the last rate. Up to 3 bytes after each text are overwritten. */
function writePoints(view: DataView, at: number, { series, starts, rateEnd }: Points): number {
  const { rows, rates } = series
  // One loop with local variables, for speed.
  const { view: startTexts, paddedLength: startSize, length: startLength } = starts
  const { view: endText, paddedLength: endSize, length: endLength } = rateEnd
  let end = at - endLength
  for (let index = 0; index < rates.length; index += 1) {
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
