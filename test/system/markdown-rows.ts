/** Returns the cells of a Markdown table, without its head. */
export function rowsOf(markdown: string): string[][] {
  const [, ...rows] = markdown.split('\n').filter((line) => /^\| (?!---)/.test(line))
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
