import type { Day } from '../rates/day.ts'
import { MAX_NUMBER_LENGTH, writeNumber } from '../rates/number-text.ts'
import type { PairSeries } from '../rates/pair-series.ts'
import type { PairHistory } from './history.ts'
import type { PairRange } from './history-range.ts'

const encoder = new TextEncoder()

/** Bytes are copied by words, which is several times faster than one by one, and than `set` for short texts. */
const WORD = 4

/** The text around the points of a history. */
interface HistoryFrame {
  before: string
  /** Follows every rate but the last, before the separator of the format. */
  rateEnd: string
  after: string
}

/** How a format writes a history: its frame, and in that the points, separated. */
export interface HistoryFormat {
  /** Separates the points of every history, in ASCII. */
  separator: string
  /** The text of a point up to its rate, in ASCII and of the same length for every day. */
  pointStart(day: Day): string
  frameOf(history: PairHistory | PairRange): HistoryFrame
}

/** Writes the record of its argument in UTF-8, without making its objects. */
export type HistoryWriter = (history: PairHistory | PairRange) => Uint8Array<ArrayBuffer>

/** The record as `JSON.stringify` writes it. */
export const JSON_HISTORY: HistoryFormat = {
  separator: '},',
  pointStart: (day) => `{"d":"${day}","r":`,
  frameOf: ({ series: _series, stats, source, ...head }) => ({
    before: `${JSON.stringify(head).slice(0, -1)},"points":[`,
    rateEnd: '',
    after: `}],${JSON.stringify({ stats, source }).slice(1)}`,
  }),
}

/** Creates a writer, which keeps its buffer, and for every market what all of its pairs have in common. */
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
    const longest = starts.room + MAX_NUMBER_LENGTH + rateEnd.room
    const most = before.length + series.rates.length * longest + after.length
    if (buffer.length < most) buffer = new Uint8Array(most)
    const points = { series, starts, rateEnd }
    // The separator of the first point is overwritten.
    const at = before.length - separator.length
    const end = writePoints(new DataView(buffer.buffer), at, points)
    buffer.set(before)
    buffer.set(after, end)
    return buffer.slice(0, end + after.length)
  }
}

/** Texts of the same length, each in a whole number of words. */
interface Words {
  view: DataView
  /** The length of each text, and that of its words, in bytes. */
  length: number
  room: number
}

function toWords(texts: readonly string[]): Words {
  const { length } = encoder.encode(texts[0])
  const room = Math.ceil(length / WORD) * WORD
  const padding = ' '.repeat(room - length)
  const bytes = encoder.encode(texts.map((text) => `${text}${padding}`).join(''))
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), length, room }
}

/** The points of a series, and what to write around their rates. */
interface Points {
  series: PairSeries
  starts: Words
  rateEnd: Words
}

/** Writes the points at `at`, and up to three bytes behind each text; returns where the last rate ends. */
function writePoints(view: DataView, at: number, { series, starts, rateEnd }: Points): number {
  const { rows, rates } = series
  // All in one loop, with what it needs at hand.
  const { view: startTexts, room: startRoom, length: startLength } = starts
  const { view: endText, room: endRoom, length: endLength } = rateEnd
  let end = at - endLength
  for (let index = 0; index < rates.length; index += 1) {
    const start = end + endLength
    const from = (rows[index] ?? 0) * startRoom
    for (let offset = 0; offset < startRoom; offset += WORD) {
      view.setInt32(start + offset, startTexts.getInt32(from + offset))
    }
    end = writeNumber(view, start + startLength, rates[index] ?? NaN)
    for (let offset = 0; offset < endRoom; offset += WORD) {
      view.setInt32(end + offset, endText.getInt32(offset))
    }
  }
  return end
}
