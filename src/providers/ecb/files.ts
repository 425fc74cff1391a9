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
 * @throws {Error} if any cell differs from this format
 */
export function* readEcbCsv(text: string): Slices<HistoryDay[]> {
  const { codes, ending, next } = readHeader(text)
  const days: HistoryDay[] = []
  let number = 1
  for (let at = next; at < text.length;) {
    number += 1
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    const [date = '', ...cells] = text.slice(at, end).replace(/\r$/, '').split(',')
    requireDay(date, 'line', number)
    if (cells.length !== codes.length + ending.length) {
      const expected = codes.length + ending.length + 1
      throw new Error(`line ${number} has ${cells.length + 1} cells, expected ${expected}`)
    }
    if (ending !== '' && cells.at(-1) !== '') {
      throw new Error(`line ${number} has text after its last comma`)
    }
    const rates = ratesIn(cells, codes, number)
    if (Object.keys(rates).length > 0) days.push({ date, rates })
    at = end + 1
    if (number % LINES_PER_SLICE === 0) yield
  }
  return toPublishedDays(days)
}

/** A few ms of work. */
const LINES_PER_SLICE = 256

const NO_RATE = 'N/A'

function ratesIn(
  cells: readonly string[],
  codes: readonly string[],
  line: number,
): Record<string, number> {
  const rates: Record<string, number> = {}
  for (const [index, code] of codes.entries()) {
    const cell = cells[index] ?? ''
    if (cell === NO_RATE) continue
    if (!isRate(cell)) {
      const expected = `expected digits such as 1.0923, or ${NO_RATE}`
      throw new Error(`line ${line} has an invalid ${code} rate; ${expected}`)
    }
    rates[code] = Number(cell)
  }
  return rates
}

function readHeader(text: string): { codes: readonly string[]; ending: string; next: number } {
  const [line = '', header = ''] = /^([^\r\n]*)(?:\r?\n|$)/.exec(text) ?? []
  const ending = header.endsWith(',') ? ',' : ''
  const [first = '', ...names] = header.slice(0, header.length - ending.length).split(',')
  if (first !== 'Date') throw new Error('the header must begin with Date')
  const codes = names.map((name, index) => requireCode(name, 'column', index + 2))
  const duplicate = codes.find((code, index) => codes.indexOf(code) !== index)
  if (duplicate !== undefined) throw new Error(`duplicate ${duplicate} in the header`)
  return { codes, ending, next: line.length }
}

/** Limit of a rate's length: real rates have up to nine characters. */
const MAX_CHARACTERS = 30

const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

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
