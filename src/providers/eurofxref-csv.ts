import type { HistoryDay } from './provider.ts'
import { isRate, requireCode, requireDay, shown, toPublishedDays } from './reference-days.ts'

/** What the bank writes where a day has no rate of a currency. */
const NO_RATE = 'N/A'

/** Of `YYYY-MM-DD`. */
const DATE_LENGTH = 10

/**
 * Reads `eurofxref-hist.csv`: a header `Date,USD,JPY,…`, and a line for every day, newest first, with `N/A` where a currency
 * has no rate. The bank ends every line with a comma.
 *
 * It has a quarter of a million cells, which are read where they stand: to split the lines and convert the cells takes six
 * times as long.
 *
 * @throws {Error} where it is anything else, if only in one cell
 */
export function readEurofxrefCsv(text: string): HistoryDay[] {
  const header = readHeader(text)
  const { codes, ending, next } = header
  const row = new Float64Array(codes.length)
  const toRates = createRecords(codes)
  const days: HistoryDay[] = []
  for (let [at, number] = [next, 2]; at < text.length; number += 1) {
    const end = endOfLine(text, readRates(text, at + DATE_LENGTH, row), ending)
    if (end === -1) throw new Error(`line ${number} ${oddityOf(text, at, header)}`)
    const date = requireDay(text.slice(at, at + DATE_LENGTH))
    const rates = toRates(row)
    // Days on which the bank was closed have been lines without rates.
    if (rates) days.push({ date, rates })
    at = end
  }
  return toPublishedDays(days)
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
  if (first !== 'Date') throw new Error(`the header begins with ${shown(first)}`)
  const codes = names.map(requireCode)
  const twice = codes.find((code, index) => codes.indexOf(code) !== index)
  if (twice !== undefined) throw new Error(`${twice} is there twice in the header`)
  return { codes, ending, next: line.length }
}

/** Makes records of rates by their codes out of one row after the other; undefined out of one without rates. */
function createRecords(
  codes: readonly string[],
): (row: Float64Array) => Record<string, number> | undefined {
  let last: Record<string, number> = {}
  const lastRow = new Float64Array(codes.length).fill(NaN)
  return (row) => {
    // To copy the day before takes a fraction of what it takes to grow a new one, and so does to read the copy.
    const isAlike = hasSameGaps(row, lastRow)
    last = withRates(isAlike ? { ...last } : {}, codes, row)
    if (!isAlike) last = { ...last }
    lastRow.set(row)
    return row.every(Number.isNaN) ? undefined : last
  }
}

function hasSameGaps(row: Float64Array, other: Float64Array): boolean {
  for (let index = 0; index < row.length; index += 1) {
    if (Number.isNaN(row[index]) !== Number.isNaN(other[index])) return false
  }
  return true
}

function withRates(
  rates: Record<string, number>,
  codes: readonly string[],
  row: Float64Array,
): Record<string, number> {
  for (let index = 0; index < row.length; index += 1) {
    const rate = row[index] ?? NaN
    if (!Number.isNaN(rate)) rates[codes[index] ?? ''] = rate
  }
  return rates
}

const [LINE_FEED, RETURN, COMMA, DOT, ZERO, NINE, N] = [10, 13, 44, 46, 48, 57, 78]

/** Puts the rates behind the comma at `at` into `row`, NaN for `N/A`, and returns where they end; -1 where one is odd. */
function readRates(text: string, at: number, row: Float64Array): number {
  for (let index = 0; index < row.length; index += 1) {
    if (text.charCodeAt(at) !== COMMA) return -1
    const start = at + 1
    if (text.charCodeAt(start) === N) {
      if (!text.startsWith(NO_RATE, start)) return -1
      row[index] = NaN
      at = start + NO_RATE.length
    } else {
      at = readRate(text, start, row, index)
      if (at === -1) return -1
    }
  }
  return at
}

/** Whole numbers of up to 15 digits are doubles, and so are these. */
const MOST_DIGITS = 15
const POWERS_OF_TEN = Array.from({ length: MOST_DIGITS + 1 }, (_, exponent) => 10 ** exponent)

/** Puts the rate at `start` into `row` and returns where it ends; -1 where it is odd. */
function readRate(text: string, start: number, row: Float64Array, index: number): number {
  let at = start
  let whole = 0
  let decimals = -1
  for (; ; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit >= ZERO && unit <= NINE) {
      whole = whole * 10 + unit - ZERO
      if (decimals >= 0) decimals += 1
    } else if (unit === DOT && decimals === -1 && at > start) decimals = 0
    else break
  }
  if (at === start || decimals === 0) return -1
  // The quotient of two doubles is rounded once, to the very number that the text stands for.
  row[index] =
    at - start > MOST_DIGITS
      ? Number(text.slice(start, at))
      : whole / (POWERS_OF_TEN[Math.max(decimals, 0)] ?? NaN)
  return Number.isFinite(row[index]) ? at : -1
}

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
  const [date = '', ...cells] = line.split(',')
  if (date.length !== DATE_LENGTH) return `begins with ${shown(date)}`
  const count = codes.length + ending.length
  if (cells.length !== count) return `has ${cells.length + 1} cells, not ${count + 1}`
  const isOdd = (cell: string, index: number): boolean =>
    index < codes.length ? cell !== NO_RATE && !isRate(cell) : cell !== ''
  const odd = cells.findIndex(isOdd)
  if (odd === -1) return 'does not end as it should'
  return `has ${shown(cells[odd] ?? '')} ${odd < codes.length ? `for ${codes[odd]}` : 'at its end'}`
}
