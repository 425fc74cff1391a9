import type { Slices } from '../async.ts'
import { DATE_LENGTH, NO_RATE, createDaysJson } from './days-json.ts'
import type { HistoryDay } from './provider.ts'
import { isRate, requireCode, requireDay, toPublishedDays } from './reference-days.ts'

/**
 * Parses `eurofxref-hist.csv` in slices: a header `Date,USD,JPY,…` and a line for every day, newest first, with `N/A` for a
 * missing rate. The bank ends every line with a comma. Lines without any rate are left out.
 *
 * Checks the quarter of a million cells in place and writes them as JSON for the engine's parser: splitting lines,
 * converting cells and growing objects takes several times as long.
 *
 * @throws {Error} if any cell differs from this format
 */
export function* readEcbCsv(text: string): Slices<HistoryDay[]> {
  const header = readHeader(text)
  const json = createDaysJson(text, header.codes)
  let at = header.next
  for (let number = 2; at < text.length; number += 1) {
    const date = requireDay(text.slice(at, at + DATE_LENGTH), 'line', number)
    const next = endOfLine(text, json.put(date, at + DATE_LENGTH), header.lineEnding)
    if (next === -1) throw new Error(`line ${number} ${describeProblem(text, at, header)}`)
    at = next
    if (!json.isFull()) continue
    json.parse()
    yield
  }
  return toPublishedDays(json.parse())
}

interface Header {
  codes: readonly string[]
  lineEnding: string
  next: number
}

function readHeader(text: string): Header {
  const [line = '', header = ''] = /^([^\r\n]*)(?:\r?\n|$)/.exec(text) ?? []
  const lineEnding = header.endsWith(',') ? ',' : ''
  const [first = '', ...names] = header.slice(0, header.length - lineEnding.length).split(',')
  if (first !== 'Date') throw new Error('the header must begin with Date')
  const codes = names.map((name, index) => requireCode(name, 'column', index + 2))
  const duplicate = codes.find((code, index) => codes.indexOf(code) !== index)
  if (duplicate !== undefined) throw new Error(`duplicate ${duplicate} in the header`)
  return { codes, lineEnding, next: line.length }
}

const [LINE_FEED, RETURN] = [10, 13]

/** Returns where the line after the rates that end at `at` begins, or -1 if the line does not end properly. */
function endOfLine(text: string, at: number, lineEnding: string): number {
  if (at === -1 || !text.startsWith(lineEnding, at)) return -1
  const end = at + lineEnding.length
  if (end === text.length) return end
  const feed = text.charCodeAt(end) === RETURN ? end + 1 : end
  return text.charCodeAt(feed) === LINE_FEED ? feed + 1 : -1
}

function describeProblem(text: string, at: number, { codes, lineEnding }: Header): string {
  const [line = ''] = /[^\r\n]*/.exec(text.slice(at)) ?? []
  const cells = line.split(',').slice(1)
  const count = codes.length + lineEnding.length
  if (cells.length !== count) return `has ${cells.length + 1} cells, expected ${count + 1}`
  const isInvalid = (cell: string, index: number): boolean =>
    index < codes.length ? cell !== NO_RATE && !isRate(cell) : cell !== ''
  const invalid = cells.findIndex(isInvalid)
  if (invalid === -1) return 'must end with LF or CRLF'
  return invalid < codes.length
    ? `has an invalid ${codes[invalid]} rate; expected digits such as 1.0923, or ${NO_RATE}`
    : 'has text after its last comma'
}
