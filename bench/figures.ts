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

/** The share of intervals that contain the value which they are about. */
const CONFIDENCE = 0.95

/**
 * Returns an interval that contains the median of all possible values with 95 %, for any distribution: between two of
 * the given values, in order. With fewer than six values, it is shorter than that requires.
 */
export function medianInterval(values: readonly number[]): [low: number, high: number] {
  const sorted = values.toSorted((one, other) => one - other)
  const { length } = sorted
  // The probability that at most `skipped` of the values are below the median.
  let [skipped, outside, ways] = [0, 0, 1]
  for (;;) {
    outside += ways / 2 ** length
    if (2 * outside > 1 - CONFIDENCE || skipped >= (length - 1) / 2) break
    skipped += 1
    ways = (ways * (length - skipped + 1)) / skipped
  }
  const first = Math.max(0, skipped - 1)
  return [sorted[first] ?? NaN, sorted[length - 1 - first] ?? NaN]
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

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
