import type { Slices } from '../async.ts'
import { MAX_NUMBER_LENGTH, writeNumber } from '../rates/number-bytes.ts'
import type { Day } from '../rates/dates.ts'
import { dayAt } from '../rates/series.ts'
import type { PairSeries } from '../rates/series.ts'
import { toCsv } from './csv.ts'
import { computeHistories, headOf } from './history.ts'
import type { FoundHistory, PairHistory } from './history.ts'

/** `Uint8Array<ArrayBuffer>`, in a notation that TypeScript before 5.7 also accepts. */
type Bytes = ReturnType<typeof Uint8Array.of>

/** JSON of one history or of a list; CSV with a line per point, or with a line per day and a column per target. */
export type HistoryForm = 'json' | 'list' | 'long' | 'wide'

export interface WrittenHistories {
  histories: readonly PairHistory[]
  /** The body, in UTF-8. */
  parts: readonly Bytes[]
}

/** Pauses after a few ms. */
export type HistoryWriter = (
  found: readonly FoundHistory[],
  today: Day,
  form: HistoryForm,
) => Slices<WrittenHistories>

const encoder = new TextEncoder()

export function createHistoryWriter(): HistoryWriter {
  const writeJson = createPairWriter(JSON_FORMAT)
  const writeCsv = createPairWriter(CSV_FORMAT)
  return function* write(found, today, form) {
    if (form === 'wide') {
      const histories = yield* computeHistories(found, today, (history) => history)
      return { histories, parts: yield* wideCsv(histories) }
    }
    const writePair = form === 'long' ? writeCsv : writeJson
    const written = yield* computeHistories(found, today, (history) => {
      return { history, bytes: writePair(history) }
    })
    const histories = written.map(({ history }) => history)
    const bodies = written.map(({ bytes }) => bytes)
    if (form === 'list') return { histories, parts: listOf(histories, bodies) }
    return { histories, parts: bodies.map((csv, index) => (index === 0 ? csv : withoutHead(csv))) }
  }
}

function withoutHead(csv: Bytes): Bytes {
  return csv.subarray(csv.indexOf(0x0a) + 1)
}

function listOf(histories: readonly PairHistory[], bodies: readonly Bytes[]): Bytes[] {
  const opening = `${JSON.stringify(headOf(histories.map(({ head }) => head))).slice(0, -1)},"series":{`
  const parts = bodies.flatMap((json, index) => {
    const before = `${index === 0 ? opening : ','}"${histories[index]?.head.to}":`
    return [encoder.encode(before), json]
  })
  return [...parts, encoder.encode('}}')]
}

const LINES_PER_SLICE = 512

function* wideCsv(histories: readonly PairHistory[]): Slices<Bytes[]> {
  const isFilled = histories.some(({ series }) => series.filled)
  const codes = histories.map(({ head }) => head.to)
  const parts = [encoder.encode(toCsv([['date', ...codes, ...(isFilled ? ['filled'] : [])]]))]
  const cursors = histories.map(({ head, series }) => {
    return { to: head.to, series, at: 0, day: dayAt(series, 0) }
  })
  let text = ''
  for (let count = 1; ; count += 1) {
    // The empty day after the last point of a series is not a day.
    const day = cursors.reduce((first, { day }) => (day && !(first < day) ? day : first), '~')
    if (day === '~') break
    text += day
    let filled = ''
    for (const cursor of cursors) {
      text += ','
      if (cursor.day !== day) continue
      const { to, series, at } = cursor
      text += series.rates[at]
      if (series.filled?.[at]) filled += filled ? ` ${to}` : to
      cursor.at += 1
      cursor.day = dayAt(series, cursor.at)
    }
    text += isFilled ? `,${filled}\r\n` : '\r\n'
    if (count % LINES_PER_SLICE > 0) continue
    parts.push(encoder.encode(text))
    text = ''
    yield
  }
  return [...parts, encoder.encode(text)]
}

/** Copying words of 4 bytes is several times faster than single bytes, and than `set` for short texts. */
const WORD = 4

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

interface Format {
  /** ASCII text between points. */
  separator: string
  /** Returns the text of a point up to its rate: ASCII, the same length for every day. */
  pointStart(day: Day): string
  frameOf(history: PairHistory): {
    before: string
    /** Text between a rate and the next separator; `filled` is that of a filled point. */
    published: Words
    filled: Words
    /** The end of these texts that belongs to the next point. */
    nextStart: string
    after: string
  }
}

const NO_TEXT: Words = /* @__PURE__ */ toWords([''])
const IS_FILLED: Words = /* @__PURE__ */ toWords([',"filled":true'])

/** The same JSON as `JSON.stringify` of a `RateHistory`. */
const JSON_FORMAT: Format = {
  separator: '},',
  pointStart: (day) => `{"d":"${day}","r":`,
  frameOf: ({ head, stats, source }) => ({
    before: `${JSON.stringify(head).slice(0, -1)},"points":[`,
    published: NO_TEXT,
    filled: IS_FILLED,
    nextStart: '',
    after: `}],${JSON.stringify({ stats, source }).slice(1)}`,
  }),
}

/** One line per point, each with the attribution. Omits the statistics, which follow from the points. */
const CSV_FORMAT: Format = {
  separator: '',
  pointStart: (day) => `${day},`,
  frameOf({ head: { from, to, fill }, source }) {
    const nextStart = `${from},${to},`
    const column = (cell: string): string[] => (fill ? [cell] : [])
    const names = ['from', 'to', 'date', 'rate', ...column('filled'), 'source', 'sourceUrl']
    const endWith = (cell: string): Words =>
      toWords([`${toCsv([['', ...column(cell), source.name, source.url]])}${nextStart}`])
    const published = endWith('')
    const filled = fill ? endWith('true') : published
    return { before: `${toCsv([names])}${nextStart}`, published, filled, nextStart, after: '' }
  },
}

function createPairWriter(format: Format): (history: PairHistory) => Bytes {
  const { separator } = format
  let buffer = new Uint8Array()
  const startsOf = new WeakMap<readonly Day[], Words>()

  return (history) => {
    const { series } = history
    const frame = format.frameOf(history)
    const { published, filled, nextStart } = frame
    const [before, after] = [encoder.encode(frame.before), encoder.encode(frame.after)]
    let starts = startsOf.get(series.dates)
    if (!starts) {
      starts = toWords(series.dates.map((day) => `${separator}${format.pointStart(day)}`))
      startsOf.set(series.dates, starts)
    }
    const endSize = Math.max(published.paddedLength, filled.paddedLength)
    const pointSize = starts.paddedLength + MAX_NUMBER_LENGTH + endSize
    const size = before.length + series.rates.length * pointSize + after.length
    if (buffer.length < size) buffer = new Uint8Array(size)
    // `before` overwrites the separator of the first point.
    const at = before.length - separator.length
    const view = new DataView(buffer.buffer)
    const end = writePoints(view, at, series, { starts, published, filled }) - nextStart.length
    buffer.set(before)
    buffer.set(after, end)
    return buffer.slice(0, end + after.length)
  }
}

/** Writes the points from offset `at`; returns their end. Up to 3 bytes after each text are overwritten. */
function writePoints(
  view: DataView,
  at: number,
  series: PairSeries,
  { starts, published, filled }: { starts: Words; published: Words; filled: Words },
): number {
  const { rates } = series
  let next = at
  for (let first = 0, last = 0; first < rates.length; first = last) {
    last = series.filled ? endOfRun(series.filled, first) : rates.length
    const end = series.filled?.[first] ? filled : published
    next = writeRun(view, next, { series, starts, end, first, last })
  }
  return next
}

interface Run {
  series: PairSeries
  starts: Words
  end: Words
  first: number
  /** Index after the last point. */
  last: number
}

function writeRun(view: DataView, at: number, { series, starts, end, first, last }: Run): number {
  const { rows, rates } = series
  // One loop with local variables, for speed.
  const { view: startTexts, paddedLength: startSize, length: startLength } = starts
  const { view: endText, paddedLength: endSize, length: endLength } = end
  let rateEnd = at - endLength
  for (let index = first; index < last; index += 1) {
    const start = rateEnd + endLength
    const from = (rows[index] ?? 0) * startSize
    for (let offset = 0; offset < startSize; offset += WORD) {
      view.setInt32(start + offset, startTexts.getInt32(from + offset))
    }
    rateEnd = writeNumber(view, start + startLength, rates[index] ?? NaN)
    for (let offset = 0; offset < endSize; offset += WORD) {
      view.setInt32(rateEnd + offset, endText.getInt32(offset))
    }
  }
  return rateEnd + endLength
}

function endOfRun(values: Uint8Array, first: number): number {
  let end = first + 1
  while (end < values.length && values[end] === values[first]) end += 1
  return end
}
