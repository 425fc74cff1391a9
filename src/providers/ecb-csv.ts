import type { Slices } from '../rates/slices.ts'
import { DATE_LENGTH, NO_RATE, createDaysJson } from './days-json.ts'
import type { HistoryDay } from './provider.ts'
import { isRate, requireCode, requireDay, toPublishedDays } from './reference-days.ts'

/**
 * Reads `eurofxref-hist.csv`: a header `Date,USD,JPY,…`, and a line for every day, newest first, with `N/A` where a currency
 * has no rate. The bank ends every line with a comma. A line without any rates is left out. Pauses between parts of it.
 *
 * Its quarter of a million cells are checked where they stand and written as JSON, for the engine to make the days of: to
 * split the lines, convert the cells and let objects grow takes several times as long.
 *
 * @throws {Error} where it is anything else, if only in one cell
 */
export function* readEcbCsv(text: string): Slices<HistoryDay[]> {
  const header = readHeader(text)
  const json = createDaysJson(text, header.codes)
  let at = header.next
  for (let number = 2; at < text.length; number += 1) {
    const date = requireDay(text.slice(at, at + DATE_LENGTH), 'line', number)
    const next = endOfLine(text, json.put(date, at + DATE_LENGTH), header.ending)
    if (next === -1) throw new Error(`line ${number} ${oddityOf(text, at, header)}`)
    at = next
    if (!json.isFull()) continue
    json.parse()
    yield
  }
  return toPublishedDays(json.parse())
}

/** What a header says of the lines below it. */
interface Header {
  /** The currencies of the cells behind the date. */
  codes: readonly string[]
  /** What a line has behind its last rate: a comma, or nothing. */
  ending: string
  /** Where the first line begins. */
  next: number
}

function readHeader(text: string): Header {
  const [line = '', header = ''] = /^([^\r\n]*)(?:\r?\n|$)/.exec(text) ?? []
  const ending = header.endsWith(',') ? ',' : ''
  const [first = '', ...names] = header.slice(0, header.length - ending.length).split(',')
  if (first !== 'Date') throw new Error('the header does not begin with Date')
  const codes = names.map((name, index) => requireCode(name, 'column', index + 2))
  const twice = codes.find((code, index) => codes.indexOf(code) !== index)
  if (twice !== undefined) throw new Error(`${twice} is there twice in the header`)
  return { codes, ending, next: line.length }
}

const [LINE_FEED, RETURN] = [10, 13]

/** Where the next line begins, behind what ends the one whose rates end at `at`; -1 where that is odd. */
function endOfLine(text: string, at: number, ending: string): number {
  if (at === -1 || !text.startsWith(ending, at)) return -1
  const end = at + ending.length
  if (end === text.length) return end
  const feed = text.charCodeAt(end) === RETURN ? end + 1 : end
  return text.charCodeAt(feed) === LINE_FEED ? feed + 1 : -1
}

/** What is wrong with the line at `at`. */
function oddityOf(text: string, at: number, { codes, ending }: Header): string {
  const [line = ''] = /[^\r\n]*/.exec(text.slice(at)) ?? []
  const cells = line.split(',').slice(1)
  const count = codes.length + ending.length
  if (cells.length !== count) return `has ${cells.length + 1} cells, not ${count + 1}`
  const isOdd = (cell: string, index: number): boolean =>
    index < codes.length ? cell !== NO_RATE && !isRate(cell) : cell !== ''
  const odd = cells.findIndex(isOdd)
  if (odd === -1) return 'does not end as it should'
  return odd < codes.length ? `has no plain rate for ${codes[odd]}` : 'has more at its end'
}
