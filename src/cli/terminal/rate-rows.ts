import { findCurrency } from '../../currencies.ts'
import type { ConvertedAmount } from '../../index.ts'
import { alignedNumbers, shortened, toTable } from './layout.ts'
import { styled } from './style.ts'
import type { Terminal } from './terminal.ts'

/** A name in less room than this, in characters, says nothing. */
const MIN_NAME_LENGTH = 6

/** How rows are drawn. */
export interface RateRowsOptions {
  /** What stands above the results. */
  head: string
  terminal: Terminal
}

/**
 * Conversions by their codes as a table under a line of heads: code, result, rate and name, as far as there is room. A
 * number is shown whole or not at all, but for the results.
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

/** The characters that a table of `columns` needs; names may be cut. */
function widthOf(columns: readonly (readonly string[])[]): number {
  const widths = columns.map((cells, column) =>
    column === 3 ? MIN_NAME_LENGTH : Math.max(...cells.map((cell) => cell.trimEnd().length)),
  )
  return widths.reduce((sum, each) => sum + each + 2, -2)
}
