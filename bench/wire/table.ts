import type { Sample } from './rounds.ts'
import { BARE } from './rows.ts'
import type { Row } from './rows.ts'
import { medianOf, medianRatio } from './statistics.ts'

const MEGABYTE = 1_048_576

/** The columns of `throughputCells`. */
export const THROUGHPUT_COLUMNS = ['requests/s', 'of bare', 'CPU µs/request', 'of bare, by CPU']

const COLUMNS = ['server', ...THROUGHPUT_COLUMNS, 'p50 ms', 'p99 ms', 'RSS MB', 'load CPU']

/** Returns the table of the servers in Markdown: medians, and medians of the ratios to bare in the same round. */
export function tableOf(rows: readonly Row[], samples: ReadonlyMap<string, Sample[]>): string {
  const lines = rows.map(({ id, name, runtime }) => {
    const own = samples.get(id) ?? []
    const bare = samples.get(BARE[runtime]) ?? []
    return [
      name,
      ...throughputCells(own, bare),
      medianOf(own, 'p50').toFixed(2),
      medianOf(own, 'p99').toFixed(2),
      (medianOf(own, 'rss') / MEGABYTE).toFixed(0),
      `${(100 * medianOf(own, 'loadShare')).toFixed(0)} %`,
    ]
  })
  return markdown(COLUMNS, lines)
}

/** Returns medians of throughput and CPU time, and of their ratios to bare in the same round. */
export function throughputCells(own: readonly Sample[], bare: readonly Sample[]): string[] {
  return [
    Math.round(medianOf(own, 'rate')).toLocaleString('en'),
    medianRatio(own, bare, 'rate').toFixed(2),
    medianOf(own, 'cpu').toFixed(1),
    medianRatio(bare, own, 'cpu').toFixed(2),
  ]
}

/** Returns a Markdown table whose first column is text and whose others are numbers. */
export function markdown(columns: readonly string[], rows: readonly string[][]): string {
  const widths = columns.map((column, index) =>
    Math.max(3, column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const pad = (text: string, index: number): string =>
    index === 0 ? text.padEnd(widths[index] ?? 0) : text.padStart(widths[index] ?? 0)
  const rule = widths.map((width, index) =>
    index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [columns, rule, ...rows].map((row) => `| ${row.map(pad).join(' | ')} |`).join('\n')
}
