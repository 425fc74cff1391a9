import type { Slices } from '../../async.ts'
import { readCsv } from '../../rates/csv.ts'
import type { HistoryDay } from '../../upstream/provider.ts'
import { addRate, parseRate, requireCode, requireDay, toPublishedDays } from './files.ts'

/** Values of these columns, where present: daily spot rates against the euro, in units. */
const SERIES: Readonly<Record<string, readonly string[]>> = {
  FREQ: ['D'],
  CURRENCY_DENOM: ['EUR'],
  EXR_TYPE: ['SP00'],
  EXR_SUFFIX: ['A'],
  UNIT_MULT: ['0', ''],
}

const GAPS: ReadonlySet<string> = new Set(['', 'NaN'])

/** A few ms of work. */
const ROWS_PER_SLICE = 4_096

/**
 * Parses SDMX-CSV of the data set EXR in slices: a row for every observation, in any order. Columns may be in any order;
 * unknown columns are ignored.
 *
 * @throws {Error} if any row differs from this format, or is of another series
 */
export function* readExrCsv(text: string): Slices<HistoryDay[]> {
  let columns: Columns | undefined
  const days = new Map<string, Record<string, number>>()
  let line = 0
  for (const cells of readCsv(text)) {
    line += 1
    if (line % ROWS_PER_SLICE === 0) yield
    if (!columns) {
      columns = readColumns(cells)
      continue
    }
    const observation = readObservation(columns, cells, line)
    if (!observation) continue
    const { date, code, rate } = observation
    let rates = days.get(date)
    if (!rates) days.set(date, (rates = {}))
    addRate(rates, code, rate)
  }
  return toPublishedDays(
    [...days].map(([date, rates], index) => ({ date: requireDay(date, 'day', index + 1), rates })),
  )
}

interface Columns {
  count: number
  currency: number
  period: number
  value: number
  series: { name: string; index: number; expected: readonly string[] }[]
}

function readColumns(header: readonly string[]): Columns {
  const indexOf = (name: string): number => {
    const index = header.indexOf(name)
    if (index === -1) throw new Error(`missing column ${name}`)
    if (header.includes(name, index + 1)) throw new Error(`duplicate column ${name}`)
    return index
  }
  const known = Object.entries(SERIES).filter(([name]) => header.includes(name))
  return {
    count: header.length,
    currency: indexOf('CURRENCY'),
    period: indexOf('TIME_PERIOD'),
    value: indexOf('OBS_VALUE'),
    series: known.map(([name, expected]) => ({ name, index: indexOf(name), expected })),
  }
}

interface Observation {
  date: string
  code: string
  rate: number
}

function readObservation(
  columns: Columns,
  cells: readonly string[],
  line: number,
): Observation | undefined {
  if (cells.length !== columns.count) {
    throw new Error(`line ${line} has ${cells.length} cells, expected ${columns.count}`)
  }
  for (const { name, index, expected } of columns.series) {
    const cell = cells[index] ?? ''
    if (!expected.includes(cell)) {
      throw new Error(`line ${line} has an unexpected ${name}; expected ${expected[0]}`)
    }
  }
  const code = requireCode(cells[columns.currency] ?? '', 'line', line)
  const date = cells[columns.period] ?? ''
  const value = cells[columns.value] ?? ''
  return GAPS.has(value) ? undefined : { date, code, rate: parseRate(value, 'line', line) }
}
