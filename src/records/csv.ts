/** Writes CSV by RFC 4180: `,` between cells, CR LF after every line, quotes where a cell needs them. */
export function toCsv(lines: Iterable<readonly (string | number)[]>): string {
  let text = ''
  for (const cells of lines) text += `${cells.map(toCell).join(',')}\r\n`
  return text
}

function toCell(value: string | number): string {
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
