export type CsvSeparator = ',' | ';' | '\t'

/**
 * Yields the cells of every record of a CSV (RFC 4180), one record at a time: the caller counts records and cells. Lines may
 * end with CRLF or LF; the last line may end with neither. An empty line is a record with one empty cell. Drops a byte order
 * mark.
 *
 * @throws {Error} if a quote is not closed, or is inside a cell
 */
export function* readCsv(text: string, separator: CsvSeparator = ','): Generator<string[]> {
  let at = text.startsWith('\u{FEFF}') ? 1 : 0
  let quote = text.indexOf('"')
  for (let number = 1; at < text.length; number += 1) {
    const feed = text.indexOf('\n', at)
    const end = feed === -1 ? text.length : feed
    if (quote !== -1 && quote < end) {
      const { cells, next } = readQuoted(text, at, { separator, number })
      yield cells
      at = next
      quote = text.indexOf('"', at)
    } else {
      // Most records have no quotes, and `split` is several times faster.
      yield text.slice(at, text[end - 1] === '\r' ? end - 1 : end).split(separator)
      at = end + 1
    }
  }
}

/**
 * Yields the cells of the columns `names`, in this order, of every record below a header. Columns may be in any order. A name
 * that ends with `?` need not be in the header: its cells are empty.
 *
 * @throws {Error} if a column is missing or there twice, or a record has another number of cells than the header
 */
export function* readColumns(
  text: string,
  names: readonly string[],
  separator: CsvSeparator = ',',
): Generator<string[]> {
  let header: readonly string[] | undefined
  let indexes: readonly number[] = []
  let line = 0
  for (const cells of readCsv(text, separator)) {
    line += 1
    if (!header) {
      header = cells
      indexes = names.map((name) => columnIndex(cells, name))
      continue
    }
    if (cells.length !== header.length) {
      throw new Error(`line ${line} has ${cells.length} cells, expected ${header.length}`)
    }
    yield indexes.map((index) => cells[index] ?? '')
  }
}

function columnIndex(header: readonly string[], name: string): number {
  const isOptional = name.endsWith('?')
  const wanted = isOptional ? name.slice(0, -1) : name
  const index = header.indexOf(wanted)
  if (index === -1 && !isOptional) throw new Error(`missing column ${wanted}`)
  if (header.includes(wanted, index + 1) && index !== -1) {
    throw new Error(`duplicate column ${wanted}`)
  }
  return index
}

/** `plain` matches a cell without quotes, `next` what follows a cell. */
const PATTERNS: Readonly<Record<CsvSeparator, { plain: RegExp; next: RegExp }>> = {
  ',': { plain: /[^",\r\n]*/y, next: /,|\r?\n|$/y },
  ';': { plain: /[^";\r\n]*/y, next: /;|\r?\n|$/y },
  '\t': { plain: /[^"\t\r\n]*/y, next: /\t|\r?\n|$/y },
}

interface Place {
  separator: CsvSeparator
  number: number
}

function readQuoted(
  text: string,
  at: number,
  { separator, number }: Place,
): { cells: string[]; next: number } {
  const patterns = PATTERNS[separator]
  const cells: string[] = []
  for (let next = at; ;) {
    const closing = text[next] === '"' ? closingQuote(text, next, number) : undefined
    if (closing === undefined) {
      const cell = match(patterns.plain, text, next) ?? ''
      cells.push(cell)
      next += cell.length
    } else {
      cells.push(text.slice(next + 1, closing).replaceAll('""', '"'))
      next = closing + 1
    }
    const found = match(patterns.next, text, next)
    if (found === undefined) {
      throw new Error(`line ${number} has a quote inside a cell; expected it around the cell`)
    }
    next += found.length
    if (found !== separator) return { cells, next }
  }
}

function closingQuote(text: string, opening: number, number: number): number {
  let at = text.indexOf('"', opening + 1)
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  if (at === -1) throw new Error(`line ${number} has an unclosed quote`)
  return at
}

/** `pattern` must be sticky. */
function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
