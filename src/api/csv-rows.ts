import type { Slices } from '../async.ts'
import { invalidParameter, toRatesError } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { readCsv } from '../rates/csv.ts'
import type { CsvSeparator } from '../rates/csv.ts'
import { MAX_ROWS, tooManyRows } from './convert-many.ts'
import type { AnyRowConversion } from './convert-many.ts'
import { toCsv } from './csv.ts'
import { ROW } from './parameters.ts'
import type { Operation } from './parameters.ts'
import { meantBy, unknownName } from './check.ts'

interface CsvForm {
  /** The byte order mark and the line `sep=`, if any. */
  start: string
  separator: CsvSeparator
  lineEnd: string
}

export interface CsvRows extends CsvForm {
  header: readonly string[]
  records: readonly (readonly string[])[]
  /** The parameters of each row, or its error. */
  rows: readonly unknown[]
}

/** What a file of the command may have and a request may not: other names, forms of cells, and malformed lines. */
export interface Ledger {
  /** The column of the file for each parameter that has another name there. */
  names: Readonly<Record<string, string>>
  /** Values of rows without their own. */
  defaults: Readonly<Record<string, unknown>>
  /**
   * Returns the text of a cell in the form of the API.
   *
   * @throws {RatesError} for a cell that has no meaning, or two
   */
  spell(name: string, cell: string): string
}

const RECORDS_PER_SLICE = 500

/** Of a request: looking for the meaning of a name takes microseconds. */
const MAX_COLUMNS = 1_000

/**
 * Ignores empty lines, other columns, case of the header and spaces around cells. An empty cell is an absent parameter, except
 * an amount and a date. Only a ledger may have more than `MAX_ROWS` rows.
 *
 * @throws {RatesError} `invalid_parameter` for malformed CSV, an unusable header, and no or too many rows
 */
export function* readRows(text: string, ledger?: Ledger): Slices<CsvRows> {
  const form = formOf(text)
  const errors = new Map<readonly string[], RatesError>()
  const malformed = (line: string, error: unknown): string[] => {
    const cells = [line]
    errors.set(cells, malformedCsv(error))
    return cells
  }
  const maxColumns = ledger ? undefined : MAX_COLUMNS
  const reader = readCsv(text.slice(form.start.length), form.separator, malformed, maxColumns)
  const { value: header = [] }: IteratorResult<string[], undefined> = reader.next()
  const refused = errors.get(header)
  if (refused) throw refused
  const columns = toColumns(header, ledger)
  const records: string[][] = []
  const rows: unknown[] = []
  let read = 0
  for (const cells of reader) {
    read += 1
    if (read % RECORDS_PER_SLICE === 0) yield
    if (cells.length === 1 && cells[0]?.trim() === '') continue
    const error = errors.get(cells)
    if (error && !ledger) throw error
    records.push(cells)
    const isWhole = cells.length === header.length
    rows.push(error ?? (isWhole ? toRow(cells, columns, ledger) : ragged(cells, header)))
    if (rows.length > MAX_ROWS && !ledger) throw tooManyRows()
  }
  if (rows.length === 0)
    throw invalidParameter('rows', 'must be one or more lines below the header')
  return { ...form, header, records, rows }
}

function malformedCsv(error: unknown): RatesError {
  return invalidParameter('csv', error instanceof Error ? error.message : 'is malformed')
}

const MAX_HEADER_CHARACTERS = 65_536

/** Spreadsheets of many countries write semicolons, and may name them in a line above the header. */
function formOf(text: string): CsvForm {
  const [start = '', named] = /^\u{FEFF}?(?:"?sep=([,;\t])"?(?:\r\n?|\n))?/iu.exec(text) ?? []
  const plain = text.slice(start.length, MAX_HEADER_CHARACTERS).replace(/"[^"]*"/g, '')
  const [lineEnd = '\n'] = /\r\n?|\n/.exec(plain) ?? []
  const [line = ''] = plain.split(lineEnd, 1)
  return { start, separator: separators.find((each) => each === named) ?? mostOf(line), lineEnd }
}

const separators = [',', ';', '\t'] as const

/** Returns the separator that the header has most of. */
function mostOf(header: string): CsvSeparator {
  const counts = new Map(separators.map((each) => [each, header.split(each).length]))
  const countOf = (separator: CsvSeparator): number => counts.get(separator) ?? 0
  return separators.toSorted((one, other) => countOf(other) - countOf(one))[0] ?? ','
}

/** The index of each column in the header. */
type Columns = readonly (readonly [name: string, index: number])[]

const PARAMETERS: Operation['parameters'] = ROW.parameters

/** An empty cell must not become the default of these: 1, and the latest rates. */
const NEVER_EMPTY = ['amount', 'date']

function toColumns(header: readonly string[], ledger: Ledger | undefined): Columns {
  const { names = {}, defaults = {} } = ledger ?? {}
  const titles = header.map((title) => title.trim())
  const lower = titles.map((title) => title.toLowerCase())
  const columns = new Map<string, number>()
  for (const name of Object.keys(PARAMETERS)) {
    // Results have a column with this name, which is a parameter only where a ledger says so.
    if (name === 'source' && names[name] === undefined) continue
    const title = (names[name] ?? name).toLowerCase()
    const index = lower.indexOf(title)
    if (lower.includes(title, index + 1) && index !== -1) {
      throw invalidParameter(name, 'given more than once')
    }
    if (index !== -1) columns.set(name, index)
  }
  const read = new Set(columns.values())
  for (const [index, title] of titles.entries()) {
    const meant = read.has(index) ? undefined : meantBy(ROW, title)
    if (!meant || names[meant.parameter] !== undefined) continue
    if (meant.parameter === 'source') {
      if (!ledger) throw invalidParameter(title, 'not supported in CSV')
    } else if (!isCarried(meant, lower[index] ?? '', { columns, defaults })) {
      throw unknownName(ROW, title)
    }
  }
  const named = [
    ...Object.keys(names),
    'from',
    ...(defaults['to'] === undefined ? ['to'] : []),
    'amount',
  ]
  const missing = named.find((name) => !columns.has(name))
  if (missing === undefined) return [...columns]
  throw invalidParameter('csv', `the first line must name the column ${names[missing] ?? missing}`)
}

/** Returns whether a column that could mean a parameter is one of the others, because the parameter is given otherwise. */
function isCarried(
  { parameter, isNear }: { parameter: string; isNear: boolean },
  title: string,
  { columns, defaults }: { columns: ReadonlyMap<string, number>; defaults: Ledger['defaults'] },
): boolean {
  if (parameter === 'to' && defaults['to'] !== undefined) return true
  // `account` is near to amount, and `rate` to date.
  return isNear && (columns.has(parameter) || RESULTS.has(title))
}

function ragged(cells: readonly string[], header: readonly string[]): RatesError {
  return invalidParameter('row', `has ${cells.length} cells, expected ${header.length}`)
}

function toRow(cells: readonly string[], columns: Columns, ledger: Ledger | undefined): object {
  const row: Record<string, unknown> = { ...ledger?.defaults }
  for (const [name, index] of columns) {
    const cell = cells[index]?.trim() ?? ''
    if (cell === '' && (row[name] !== undefined || !NEVER_EMPTY.includes(name))) continue
    try {
      row[name] = PARAMETERS[name]?.fromText(toText(ledger?.spell(name, cell) ?? cell))
    } catch (error) {
      return toRatesError(error)
    }
  }
  return Array.isArray(row['to']) ? severalTargets() : row
}

/** Spreadsheets write boolean cells in capitals. */
function toText(cell: string): string {
  return /^(?:true|false)$/i.test(cell) ? cell.toLowerCase() : cell
}

const RESULT_COLUMNS =
  'from to amount rate result reverse date asked rule updatedAt source sourceUrl error message'

const RESULTS = /* @__PURE__ */ new Set([...RESULT_COLUMNS.toLowerCase().split(' '), 'rounded'])

export function resultsHead(hasRounded: boolean): string {
  const columns = hasRounded ? RESULT_COLUMNS.replace('result ', 'result rounded ') : RESULT_COLUMNS
  return toCsv([columns.split(' ')])
}

const EMPTY_CELLS: readonly string[] = /* @__PURE__ */ RESULT_COLUMNS.split(' ')
  .slice(0, -2)
  .map(() => '')

/** Messages, which may quote a cell of the request, begin with fixed words, so that spreadsheets see no formula. */
export function resultsCsv(results: readonly AnyRowConversion[], hasRounded: boolean): string {
  const lines = results.map(toCells)
  if (!hasRounded) return toCsv(lines)
  return toCsv(
    lines.map((cells, index) => cells.toSpliced(ROUNDED_AT, 0, roundedOf(results[index]))),
  )
}

const ROUNDED_AT: number = /* @__PURE__ */ RESULT_COLUMNS.split(' ').indexOf('result') + 1

function roundedOf(result: AnyRowConversion | undefined): string {
  return (result && 'rounded' in result && result.rounded) || ''
}

function toCells(result: AnyRowConversion): readonly (string | number)[] {
  if ('error' in result) return [...EMPTY_CELLS, result.error.code, result.error.message]
  if (!('rate' in result)) {
    const { code, message } = severalTargets()
    return [...EMPTY_CELLS, code, message]
  }
  const { from, to, amount, rate, result: converted, reverse, date, asked, rule } = result
  const { updatedAt, source } = result
  const day = [date ?? '', asked ?? '', rule ?? '']
  const origin = [updatedAt, source.name, source.url]
  return [from, to, amount, rate, converted, reverse ? 'true' : '', ...day, ...origin, '', '']
}

function severalTargets(): RatesError {
  return invalidParameter('to', 'must be one code; CSV has a line per row')
}
