import type { Slices } from '../async.ts'
import type { Day } from '../rates/dates.ts'
import { dayAt } from '../rates/series.ts'
import { CSV_HISTORY, csvFrame, toCsv } from './csv.ts'
import { computeHistories, listHead } from './history-list.ts'
import type { FoundHistories, ListHead } from './history-list.ts'
import { JSON_HISTORY, createHistoryWriter, toWords, writePoints } from './history-writer.ts'
import type { HistoryFormat, HistoryFrame, HistoryWriter, Points } from './history-writer.ts'
import type { PairHistory, PairRange } from './history.ts'

type Bytes = ReturnType<HistoryWriter>

/** Form of a response: JSON; CSV with a line per point; or CSV with a line per day and a column per target. */
export type ListForm = 'json' | 'long' | 'wide'

/** Pauses after a few ms. `isList` is false for the JSON of one history that was not requested as a list. */
export type ListWriter = (
  found: FoundHistories,
  today: Day,
  how: { form: ListForm; isList: boolean },
) => Slices<Bytes[]>

const encoder = new TextEncoder()

const FILLED_JSON: HistoryFormat = {
  ...JSON_HISTORY,
  frameOf: (history) => {
    const published = JSON_HISTORY.frameOf(history)
    const end = ',"filled":true'
    return filledFrame(history, published, {
      ...published,
      rateEnd: end,
      after: end + published.after,
    })
  },
}

const FILLED_HEAD = ['from', 'to', 'date', 'rate', 'filled', 'source', 'sourceUrl']

const FILLED_CSV: HistoryFormat = {
  ...CSV_HISTORY,
  frameOf: (history) => {
    const { from, to, source } = history
    const frameWith = (filled: string): HistoryFrame =>
      csvFrame(FILLED_HEAD, `${from},${to},`, toCsv([['', filled, source.name, source.url]]))
    return filledFrame(history, frameWith(''), frameWith('true'))
  },
}

/** Returns a frame whose points end as in `published` or as in `filled`, which is longer. */
function filledFrame(
  { series: { filled = new Uint8Array() } }: PairHistory | PairRange,
  published: HistoryFrame,
  { rateEnd, after }: HistoryFrame,
): HistoryFrame {
  const publishedEnd = toWords([published.rateEnd])
  function write(view: DataView, at: number, points: Points): number {
    let [next, end] = [at, at]
    for (let first = 0, last = 0; first < points.last; first = last) {
      while (last < points.last && filled[last] === filled[first]) last += 1
      const words = filled[first] ? points.rateEnd : publishedEnd
      end = writePoints(view, next, { ...points, rateEnd: words, first, last })
      next = end + words.length
    }
    return end
  }
  const isLastFilled = filled.at(-1) === 1
  return { before: published.before, rateEnd, after: isLastFilled ? after : published.after, write }
}

export function createListWriter(): ListWriter {
  const published = {
    json: createHistoryWriter(JSON_HISTORY),
    long: createHistoryWriter(CSV_HISTORY),
  }
  const filled = { json: createHistoryWriter(FILLED_JSON), long: createHistoryWriter(FILLED_CSV) }
  return function* write(found, today, { form, isList }) {
    if (form === 'wide')
      return yield* wideCsv(yield* computeHistories(found, today, (pair) => pair))
    const written = yield* computeHistories(found, today, (pair) => {
      const { [form]: toBytes } = pair.series.filled ? filled : published
      return { to: pair.to, bytes: toBytes(pair) }
    })
    if (form === 'json' && isList) return joinedJson(written, listHead(found, today))
    return written.map(({ bytes }, index) => (index === 0 ? bytes : withoutHead(bytes)))
  }
}

function withoutHead(csv: Bytes): Bytes {
  return csv.subarray(csv.indexOf(0x0a) + 1)
}

function joinedJson(written: { to: string; bytes: Bytes }[], head: ListHead): Bytes[] {
  const opening = `${JSON.stringify(head).slice(0, -1)},"series":{`
  const parts = written.flatMap(({ to, bytes }, index) => {
    return [encoder.encode(`${index === 0 ? opening : ','}"${to}":`), bytes]
  })
  return [...parts, encoder.encode('}}')]
}

const LINES_PER_SLICE = 512

function* wideCsv(pairs: readonly (PairHistory | PairRange)[]): Slices<Bytes[]> {
  const isFilled = pairs.some(({ fill }) => fill !== undefined)
  const head = ['date', ...pairs.map(({ to }) => to), ...(isFilled ? ['filled'] : [])]
  const parts = [encoder.encode(toCsv([head]))]
  const cursors = pairs.map(({ to, series }) => ({ to, series, at: 0, day: dayAt(series, 0) }))
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
