import { findCurrency } from '../../currencies.ts'
import type { ConvertedAmount } from '../../index.ts'
import { alignedNumbers, shortened, toTable } from './layout.ts'
import { styled } from './style.ts'
import type { Terminal } from './terminal.ts'

/** A name shortened below this length is useless. */
const MIN_NAME_LENGTH = 6

/** Options of `toRateRows()`. */
export interface RateRowsOptions {
  /** Heading of the result column. */
  head: string
  terminal: Terminal
}

/**
 * Formats conversions as a table with the columns code, result, rate and name. Without room, rate and name are left out; only
 * names and, as the last resort, results are cut.
 */
export function toRateRows(
  results: Readonly<Record<string, ConvertedAmount>>,
  { head, terminal }: RateRowsOptions,
): string[] {
  const { width, hasUnicode } = terminal
  const converted = Object.values(results)
  const codes = ['code', ...Object.keys(results)]
  const amounts = [head, ...alignedNumbers(converted.map(({ result }) => result))]
  const rates = ['rate', ...alignedNumbers(converted.map(({ rate }) => rate))]
  const names = ['name', ...Object.keys(results).map((code) => findCurrency(code)?.name ?? '')]
  const tables = [
    [codes, amounts, rates, names],
    [codes, amounts, rates],
    [codes, amounts],
  ]
  const fitting = tables.find((columns) => widthOf(columns) <= width) ?? [codes, amounts]
  const lines = toTable(codes.map((_, row) => fitting.map((column) => column[row] ?? '')))
  const [heads = '', ...rows] = lines.map((line) => shortened(line, width, hasUnicode ? '…' : '.'))
  return [styled('aside', heads, terminal), ...rows]
}

function widthOf(columns: readonly (readonly string[])[]): number {
  const widths = columns.map((cells, column) =>
    column === 3 ? MIN_NAME_LENGTH : Math.max(...cells.map((cell) => cell.trimEnd().length)),
  )
  return widths.reduce((sum, each) => sum + each + 2, -2)
}
