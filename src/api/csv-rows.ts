import type { Slices } from '../async.ts'
import { invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { readCsv } from '../rates/csv.ts'
import type { CsvSeparator } from '../rates/csv.ts'
import { MAX_ROWS, tooManyRows } from './convert-many.ts'
import type { AnyRowConversion } from './convert-many.ts'
import { toCsv } from './csv.ts'
import { ROW, meantBy, unknownName } from './parameters.ts'

export interface CsvRows {
  separator: CsvSeparator
  header: readonly string[]
  records: readonly (readonly string[])[]
  /** The parameters of each row, or its error. */
  rows: readonly unknown[]
}

const COLUMNS = ['from', 'to', 'amount', 'date', 'reverse', 'rule', 'maxAge', 'round'] as const

type Column = (typeof COLUMNS)[number]

const RECORDS_PER_SLICE = 500

/**
 * Ignores empty lines and other columns; an empty cell is an absent parameter, except an empty amount. Only a ledger may
 * have more than `MAX_ROWS` rows, and other columns with names that `convert` would reject.
 *
 * @throws {RatesError} `invalid_parameter` for malformed CSV, an unusable header or too many rows
 */
export function* readRows(text: string, isLedger = false): Slices<CsvRows> {
  const separator = separatorOf(text)
  const reader = readRecords(text, separator)
  const { value: header = [] } = reader.next()
  const columns = toColumns(header, isLedger)
  const records: string[][] = []
  const rows: unknown[] = []
  for (const cells of reader) {
    if (cells.length === 1 && cells[0] === '') continue
    records.push(cells)
    rows.push(cells.length === header.length ? toRow(cells, columns) : ragged(cells, header))
    if (rows.length > MAX_ROWS && !isLedger) throw tooManyRows()
    if (rows.length % RECORDS_PER_SLICE === 0) yield
  }
  return { separator, header, records, rows }
}

/** Yields the records of `text`; its errors are those of a request. */
function* readRecords(text: string, separator: CsvSeparator): Generator<string[], undefined> {
  const records = readCsv(text, separator)
  for (;;) {
    let next: IteratorResult<string[], unknown>
    try {
      next = records.next()
    } catch (error) {
      throw invalidParameter('csv', error instanceof Error ? error.message : 'is malformed')
    }
    if (next.done) return undefined
    yield next.value
  }
}

const MAX_HEADER_CHARACTERS = 65_536

/** Returns the separator that the header has most of; spreadsheets of many countries write semicolons. */
function separatorOf(text: string): CsvSeparator {
  const [line = ''] = text.slice(0, MAX_HEADER_CHARACTERS).split('\n', 1)
  const plain = line.replace(/"[^"]*"/g, '')
  const countOf = (separator: CsvSeparator): number => plain.split(separator).length
  const others = ([';', '\t'] as const).filter((each) => countOf(each) > countOf(','))
  return others.toSorted((one, other) => countOf(other) - countOf(one))[0] ?? ','
}

/** The index of each column in the header, or -1. */
type Columns = readonly (readonly [name: Column, index: number])[]

function toColumns(header: readonly string[], isLedger: boolean): Columns {
  const missing = (['from', 'to'] as const).find((name) => !header.includes(name))
  if (!isLedger || missing) {
    for (const name of header) {
      if (!Object.hasOwn(ROW.parameters, name) && meantBy(ROW, name)) throw unknownName(ROW, name)
    }
    // Results have a column with this name, which must not be read as a parameter.
    if (header.includes('source')) throw invalidParameter('source', 'not supported in CSV')
  }
  if (missing) throw invalidParameter('csv', `the first line must name the column ${missing}`)
  const repeated = COLUMNS.find((name) => header.indexOf(name) !== header.lastIndexOf(name))
  if (repeated) throw invalidParameter(repeated, 'given more than once')
  return COLUMNS.map((name) => [name, header.indexOf(name)])
}

function ragged(cells: readonly string[], header: readonly string[]): RatesError {
  return invalidParameter('row', `has ${cells.length} cells, expected ${header.length}`)
}

function toRow(cells: readonly string[], columns: Columns): object {
  const row: Record<string, unknown> = {}
  for (const [name, index] of columns) {
    const cell = cells[index]
    // An empty amount must not become the default, 1.
    if (cell === undefined || (cell === '' && name !== 'amount')) continue
    row[name] = toValue(name, cell)
  }
  return row
}

/** Other texts stay as they are; their row gets the error of the parameter. */
function toValue(name: Column, cell: string): string | number | boolean {
  if (name === 'reverse' && /^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true'
  if (name === 'maxAge' && /^\d{1,9}$/.test(cell)) return Number(cell)
  return cell
}

const RESULT_COLUMNS =
  'from to amount rate result reverse date asked rule updatedAt source sourceUrl error message'

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
    const { code, message } = invalidParameter('to', 'must be one code; CSV has a line per row')
    return [...EMPTY_CELLS, code, message]
  }
  const { from, to, amount, rate, result: converted, reverse, date, asked, rule } = result
  const { updatedAt, source } = result
  const day = [date ?? '', asked ?? '', rule ?? '']
  const origin = [updatedAt, source.name, source.url]
  return [from, to, amount, rate, converted, reverse ? 'true' : '', ...day, ...origin, '', '']
}
