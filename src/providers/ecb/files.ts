import type { Slices } from '../../async.ts'
import { isCode } from '../../rates/currency-code.ts'
import { isDay } from '../../rates/dates.ts'
import type { HistoryDay } from '../../upstream/provider.ts'
import { readXmlRoot } from '../../upstream/xml.ts'
import type { XmlElement } from '../../upstream/xml.ts'

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
  if (text.includes('&')) throw new Error('unexpected entity')
  const days: HistoryDay[] = []
  readElement(readXmlRoot(text), [], days)
  const empty = days.find(({ rates }) => Object.keys(rates).length === 0)
  if (empty) throw new Error(`${empty.date} has no rates`)
  return toPublishedDays(days)
}

function readElement(element: XmlElement, open: readonly string[], days: HistoryDay[]): void {
  const { name, text } = element
  if (open.length === MAX_OPEN) throw new Error(`elements nested more than ${MAX_OPEN} levels deep`)
  if (text !== '' && !HEADINGS.has(name)) throw new Error('unexpected text outside of the headings')
  const path = [...open, name]
  if (!HEADINGS.has(name) || open.includes('Cube')) readCube(path, element, days)
  for (const each of element.elements) readElement(each, path, days)
}

function readCube(
  path: readonly string[],
  { attributes, attributeCount }: XmlElement,
  days: HistoryDay[],
): void {
  const [root, ...cubes] = path
  const depth = root === ROOT && cubes.every((name) => name === 'Cube') ? cubes.length : undefined
  if (depth === 0 || (depth === 1 && attributeCount === 0)) return
  if (depth === 2 && attributeCount === 1) {
    days.push({ date: requireDay(attributes.get('time') ?? '', 'day', days.length + 1), rates: {} })
    return
  }
  const rates = days.at(-1)?.rates
  if (depth !== 3 || attributeCount !== 2 || !rates) {
    throw new Error('unexpected element; expected a Cube with time, or with currency and rate')
  }
  const code = requireCode(attributes.get('currency') ?? '', 'day', days.length)
  addRate(rates, code, parseRate(attributes.get('rate') ?? '', 'day', days.length))
}

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

const NO_RATE = 'N/A'

const DATE_LENGTH = 10

interface DaysJson {
  /** Writes the day `date`, whose rates follow the comma at `at`; returns where they end, or -1 if a rate is invalid. */
  put(date: string, at: number): number
  isFull(): boolean
  /** Parses what was written since the last call; returns all days with rates so far. */
  parse(): HistoryDay[]
}

const decoder = new TextDecoder()

/** Bytes of JSON that are parsed at once: little memory and few calls. */
const PART = 256 * 1024

const DAY_FRAME = '{"date":"YYYY-MM-DD","rates":{}},'.length
const RATE_FRAME = '"USD":'.length

const LIST_OPENING = 1

const [COMMA, DOT, SLASH, ZERO, NINE, A, N, BRACKET, BRACE] = [44, 46, 47, 48, 57, 65, 78, 93, 125]

/**
 * `text` is ASCII and has a rate for each of `codes` in every line. Copies bytes, because there are two million: cutting and
 * joining strings takes several times as long.
 */
function createDaysJson(text: string, codes: readonly string[]): DaysJson {
  const source = new TextEncoder().encode(text)
  if (source.length !== text.length) throw new Error('the file must be ASCII')
  const keys = new TextEncoder().encode(codes.map((code) => `"${code}":`).join(''))
  const longest = DAY_FRAME + codes.length * (RATE_FRAME + MAX_CHARACTERS)
  const json: Ascii = { bytes: new Uint8Array(PART + longest), length: 0 }
  append(json, '[')
  const days: HistoryDay[] = []

  return {
    put(date, at) {
      const start = json.length
      append(json, `{"date":"${date}","rates":{`)
      const first = json.length
      const end = appendRates(json, keys, source, at)
      // Drops a day without rates; otherwise replaces the last comma.
      if (json.length === first) json.length = start
      else json.bytes[json.length - 1] = BRACE
      if (json.length > start) append(json, '},')
      return end
    },
    isFull: () => json.length > PART,
    parse() {
      if (json.length === LIST_OPENING) return days
      // Replaces the last comma.
      json.bytes[json.length - 1] = BRACKET
      const parsed: HistoryDay[] = JSON.parse(decoder.decode(json.bytes.subarray(0, json.length)))
      for (const day of parsed) days.push(day)
      json.length = LIST_OPENING
      return days
    },
  }
}

interface Ascii {
  bytes: Uint8Array
  length: number
}

function append(json: Ascii, text: string): void {
  const { bytes, length } = json
  for (let index = 0; index < text.length; index += 1) {
    bytes[length + index] = text.charCodeAt(index)
  }
  json.length += text.length
}

/** Appends the rates that follow the comma at `at`; returns where they end, or -1 if one is invalid. */
function appendRates(json: Ascii, keys: Uint8Array, source: Uint8Array, at: number): number {
  const { bytes } = json
  // One loop with a local length, because it runs over two million bytes.
  let { length } = json
  for (let key = 0; key < keys.length; key += RATE_FRAME) {
    if (source[at] !== COMMA) return -1
    const start = at + 1
    at = start
    if (source[at] === N) {
      if (source[at + 1] !== SLASH || source[at + 2] !== A) return -1
      at += NO_RATE.length
      continue
    }
    for (let index = 0; index < RATE_FRAME; index += 1) bytes[length++] = keys[key + index] ?? 0
    let point = -1
    for (; ; at += 1) {
      const byte = source[at] ?? 0
      if (byte === DOT && point === -1) point = at
      else if (byte < ZERO || byte > NINE) break
      bytes[length++] = byte
    }
    if (!isPlain(source[start], start, point, at)) return -1
    bytes[length++] = COMMA
  }
  json.length = length
  return at
}

function isPlain(first: number | undefined, start: number, point: number, end: number): boolean {
  const whole = (point === -1 ? end : point) - start
  const hasNoZeros = whole === 1 || (whole > 1 && first !== ZERO)
  return hasNoZeros && point !== end - 1 && end - start <= MAX_CHARACTERS
}

const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Limit of a rate's length: real rates have up to nine characters. */
const MAX_CHARACTERS = 30

/** Whether `text` is a rate in plain digits, such as `1.0923`. */
function isRate(text: string): boolean {
  return text.length <= MAX_CHARACTERS && DECIMAL.test(text)
}

type Part = 'line' | 'column' | 'day'

export function parseRate(text: string, part: Part, number: number): number {
  if (isRate(text)) return Number(text)
  throw new Error(`${part} ${number} has an invalid rate; expected digits such as 1.0923`)
}

export function requireCode(text: string, part: Part, number: number): string {
  if (isCode(text)) return text
  throw new Error(`${part} ${number} has an invalid code; expected three capital letters`)
}

export function requireDay(text: string, part: Part, number: number): string {
  if (isDay(text)) return text
  throw new Error(`${part} ${number} has an invalid date; expected YYYY-MM-DD`)
}

/** Adds a rate to `rates`; throws if there is already one of the currency. */
export function addRate(rates: Record<string, number>, code: string, rate: number): void {
  if (Object.hasOwn(rates, code)) throw new Error(`duplicate ${code} on one day`)
  rates[code] = rate
}

/** @throws {Error} if a day is duplicate, or there are no days */
export function toPublishedDays(days: readonly HistoryDay[]): HistoryDay[] {
  const ascending = days.toSorted((a, b) => (a.date < b.date ? -1 : 1))
  const duplicate = ascending.find(({ date }, index) => date === ascending[index + 1]?.date)
  if (duplicate) throw new Error(`duplicate day ${duplicate.date}`)
  if (ascending.length === 0) throw new Error('expected at least 1 day, got 0')
  return ascending
}
