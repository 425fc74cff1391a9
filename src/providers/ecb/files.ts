import type { Slices } from '../../async.ts'
import type { HistoryDay } from '../../upstream/provider.ts'
import {
  MAX_CHARACTERS,
  addRate,
  isRate,
  parseRate,
  requireCode,
  requireDay,
  toPublishedDays,
} from './reference-days.ts'

const PROLOG = /^\s*(?:<\?xml\s[^<>]*\?>)?/

/** Groups: the name in a closing tag; or the name, the attributes and the final slash of an opening one. */
const TAG =
  /<(?:\/([\w:.-]+)\s*|([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/)?)>/y

const ATTRIBUTE = /\s+([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gy

const ROOT = 'gesmes:Envelope'

const MAX_OPEN = 4

/** Elements with text, or each other, which are ignored. */
const HEADINGS: ReadonlySet<string> = new Set(['gesmes:subject', 'gesmes:Sender', 'gesmes:name'])

/**
 * Parses `eurofxref-daily.xml` and `eurofxref-hist-90d.xml`: the envelope contains a `Cube` with a `Cube time` for every
 * day, which contains an empty `Cube currency rate` for every currency. Attributes may be in any order and in single or
 * double quotes.
 *
 * Rejects all other XML: document types, entities, CDATA sections, comments and processing instructions.
 *
 * @throws {Error} if any element differs from this format
 */
export function readEcbXml(text: string): HistoryDay[] {
  const days: HistoryDay[] = []
  const open: string[] = []
  let at = PROLOG.exec(text)?.[0].length ?? 0
  do {
    const next = text.indexOf('<', at)
    if (next === -1) throw new Error('the XML is truncated')
    requireNoText(text.slice(at, next), open.at(-1) ?? ROOT)
    TAG.lastIndex = next
    const [tag, closed, opened = '', attributes = '', isEmpty] = TAG.exec(text) ?? []
    if (tag === undefined) throw new Error(`unsupported markup at character ${next + 1}`)
    at = next + tag.length
    if (closed !== undefined) {
      if (open.pop() !== closed) throw new Error('a closing tag has no opening tag')
    } else {
      readElement(open, opened, attributesOf(attributes), days)
      if (!isEmpty) open.push(opened)
    }
  } while (open.length > 0)
  if (text.slice(at).trim() !== '') throw new Error('text after the root element')
  const empty = days.find(({ rates }) => Object.keys(rates).length === 0)
  if (empty) throw new Error(`${empty.date} has no rates`)
  return toPublishedDays(days)
}

function readElement(
  open: readonly string[],
  name: string,
  attributes: ReadonlyMap<string, string>,
  days: HistoryDay[],
): void {
  const path = [...open, name].join(' ')
  if (open.length === MAX_OPEN) throw new Error(`elements nested more than ${MAX_OPEN} levels deep`)
  const cubes = path === `${ROOT}${' Cube'.repeat(open.length)}` ? open.length : undefined
  if (cubes === 0 || (HEADINGS.has(name) && open.every((each) => each !== 'Cube'))) return
  if (cubes === 1 && attributes.size === 0) return
  if (cubes === 2 && attributes.size === 1) {
    days.push({ date: requireDay(attributes.get('time') ?? '', 'day', days.length + 1), rates: {} })
    return
  }
  const rates = days.at(-1)?.rates
  if (cubes !== 3 || attributes.size !== 2 || !rates) {
    throw new Error('unexpected element; expected a Cube with time, or with currency and rate')
  }
  const code = requireCode(attributes.get('currency') ?? '', 'day', days.length)
  addRate(rates, code, parseRate(attributes.get('rate') ?? '', 'day', days.length))
}

function attributesOf(text: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', doubly, singly = ''] of text.matchAll(ATTRIBUTE)) {
    if (attributes.has(name)) throw new Error('duplicate attribute of an element')
    attributes.set(name, doubly ?? singly)
  }
  return attributes
}

function requireNoText(text: string, parent: string): void {
  const isGood = HEADINGS.has(parent) ? !text.includes('&') : text.trim() === ''
  if (!isGood) throw new Error(`unexpected text in ${parent}`)
}

/** The cell of a currency without a rate on a day. */
const NO_RATE = 'N/A'

/** Length of `YYYY-MM-DD`. */
const DATE_LENGTH = 10

/** A few ms of work. */
const LINES_PER_SLICE = 512

/**
 * Parses `eurofxref-hist.csv` in slices: a header `Date,USD,JPY,…` and a line for every day, newest first, with `N/A` for a
 * missing rate. The bank ends every line with a comma. Lines without any rate are left out.
 *
 * Reads the quarter of a million cells in place, because splitting lines takes three times as long.
 *
 * @throws {Error} if any cell differs from this format
 */
export function* readEcbCsv(text: string): Slices<HistoryDay[]> {
  const header = readHeader(text)
  if (/[^\0-\x7f]/.test(text)) throw new Error('the file must be ASCII')
  const days: HistoryDay[] = []
  const cursor = { text, at: header.next }
  for (let number = 2; cursor.at < text.length; number += 1) {
    if (number % LINES_PER_SLICE === 0) yield
    const start = cursor.at
    const date = requireDay(text.slice(start, start + DATE_LENGTH), 'line', number)
    cursor.at += DATE_LENGTH
    const rates = readRates(cursor, header.codes)
    if (!rates || !skipLineEnd(cursor, header.lineEnding)) {
      throw new Error(`line ${number} ${describeProblem(text, start, header)}`)
    }
    if (Object.keys(rates).length > 0) days.push({ date, rates })
  }
  return toPublishedDays(days)
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

/** A position in a text; reading moves it. */
interface Cursor {
  readonly text: string
  at: number
}

/** Reads a comma and a cell for each of `codes`; returns undefined if one is invalid. */
function readRates(cursor: Cursor, codes: readonly string[]): Record<string, number> | undefined {
  const { text } = cursor
  const rates: Record<string, number> = {}
  for (const code of codes) {
    if (text[cursor.at] !== ',') return undefined
    cursor.at += 1
    if (text.startsWith(NO_RATE, cursor.at)) {
      cursor.at += NO_RATE.length
      continue
    }
    const rate = readRate(cursor)
    if (rate === undefined) return undefined
    rates[code] = rate
  }
  return rates
}

const [DOT, ZERO, NINE] = [46, 48, 57]

/** Exact, unlike higher powers. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/**
 * Reads a rate in plain digits, without a copy of its text: the quotient of two exact numbers is the double nearest to the
 * digits.
 */
function readRate(cursor: Cursor): number | undefined {
  const { text, at: start } = cursor
  let [at, digits, point] = [start, 0, -1]
  for (; ; at += 1) {
    const character = text.charCodeAt(at)
    if (character === DOT && point === -1) point = at
    else if (character >= ZERO && character <= NINE) digits = digits * 10 + character - ZERO
    else break
  }
  cursor.at = at
  const whole = (point === -1 ? at : point) - start
  const hasNoZeros = whole === 1 || (whole > 1 && text[start] !== '0')
  if (!hasNoZeros || point === at - 1 || at - start > MAX_CHARACTERS) return undefined
  const power = POWERS_OF_TEN[point === -1 ? 0 : at - point - 1]
  const isExact = power !== undefined && digits <= Number.MAX_SAFE_INTEGER
  return isExact ? digits / power : Number(text.slice(start, at))
}

/** Skips `lineEnding` and a line break, or the end of the text; returns false if the line does not end properly. */
function skipLineEnd(cursor: Cursor, lineEnding: string): boolean {
  const { text, at } = cursor
  if (!text.startsWith(lineEnding, at)) return false
  const end = at + lineEnding.length
  const feed = text[end] === '\r' ? end + 1 : end
  cursor.at = end === text.length ? end : feed + 1
  return end === text.length || text[feed] === '\n'
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
