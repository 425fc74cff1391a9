const GAP = '   '

/** Cuts `text` to at most `width` characters, the last of which is then `mark`. */
export function shortened(text: string, width: number, mark: string): string {
  if (text.length <= width) return text
  return `${text.slice(0, Math.max(width - mark.length, 0))}${mark}`.slice(0, width)
}

/** Formats numbers with the same width, aligned by their decimal points. */
export function alignedNumbers(numbers: readonly number[]): string[] {
  const parts = numbers.map((number) => {
    const [, whole = '', rest = ''] = /^(-?\d+)(.*)$/.exec(String(number)) ?? []
    return { whole, rest }
  })
  const before = Math.max(0, ...parts.map(({ whole }) => whole.length))
  const behind = Math.max(0, ...parts.map(({ rest }) => rest.length))
  return parts.map(({ whole, rest }) => whole.padStart(before) + rest.padEnd(behind))
}

/** Arranges cells in as many columns as fit into `width` characters, column by column. */
export function toColumns(cells: readonly string[], width: number): string[] {
  const cellWidth = Math.max(0, ...cells.map((cell) => cell.length))
  const columns = Math.max(1, Math.floor((width + GAP.length) / (cellWidth + GAP.length)))
  const lines = Math.ceil(cells.length / columns)
  return Array.from({ length: lines }, (_, line) =>
    cells
      .filter((_cell, index) => index % lines === line)
      .map((cell) => cell.padEnd(cellWidth))
      .join(GAP)
      .trimEnd(),
  )
}

/** Formats rows with aligned columns. */
export function toTable(rows: readonly (readonly string[])[]): string[] {
  const widthOf = (column: number): number =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const widths = (rows[0] ?? []).map((_, column) => widthOf(column))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Wraps `text` at spaces into lines of at most `width` characters; longer words are not split. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ').filter((each) => each !== '')) {
    const line = lines.at(-1)
    const longer = line === undefined ? word : `${line} ${word}`
    if (line === undefined || longer.length > width) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}
