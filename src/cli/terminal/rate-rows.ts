import { findCurrency } from '../../currencies.ts'
import type { ConvertedAmount } from '../../index.ts'
import { alignedNumbers, shortened, toTable } from './layout.ts'
import { styled } from './style.ts'
import type { Terminal } from './terminal.ts'

/** How rows are drawn. */
export interface RateRowsOptions {
  /** What stands above the results. */
  head: string
  terminal: Terminal
}

/** Conversions by their codes as a table with a line of heads: code, result, rate and name, as far as there is room. */
export function toRateRows(
  results: Readonly<Record<string, ConvertedAmount>>,
  { head, terminal }: RateRowsOptions,
): string[] {
  const converted = Object.values(results)
  const amounts = alignedNumbers(converted.map(({ result }) => result))
  const rates = alignedNumbers(converted.map(({ rate }) => rate))
  const rows = Object.keys(results).map((code, index) => [
    code,
    amounts[index] ?? '',
    rates[index] ?? '',
    findCurrency(code)?.name ?? '',
  ])
  const [heads = '', ...lines] = toTable([['code', head, 'rate', 'name'], ...rows]).map((line) =>
    shortened(line, terminal.width, terminal.hasUnicode ? '…' : '.'),
  )
  return [styled('aside', heads, terminal), ...lines]
}
