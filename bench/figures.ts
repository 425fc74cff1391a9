export const MEGABYTE = 1_048_576

export function inMegabytes(bytes: number, digits: number): string {
  return (bytes / MEGABYTE).toFixed(digits)
}

/** Returns the median, which is the mean of two values if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const [low = NaN, high = NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  return (low + high) / 2
}

/** Returns the value below which this share of the values lies; of latencies, for example. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) * share)] ?? NaN
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

/** Writes a line to stdout. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
