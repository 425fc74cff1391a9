export type CsvSeparator = ',' | ';' | '\t'

/**
 * Yields the cells of every record of a CSV (RFC 4180), one record at a time: the caller counts records and cells. Lines end
 * with CRLF, LF or CR; the last line may end with none. An empty line is a record with one empty cell. Spaces around quotes,
 * and a byte order mark, are dropped.
 *
 * @param malformed receives a line that is not CSV, and returns its cells (default: its error is thrown)
 * @throws {Error} if a quote is not closed, or is inside a cell, or a line has more than `maxCells`
 */
export function* readCsv(
  text: string,
  separator: CsvSeparator = ',',
  malformed?: (line: string, error: unknown) => string[],
  maxCells?: number,
): Generator<string[]> {
  let at = text.startsWith('\u{FEFF}') ? 1 : 0
  // The next character of each kind: a search per line for one that is absent would take quadratic time.
  let [quote, feed, carriage] = [-1, -1, -1]
  for (let number = 1; at < text.length; number += 1) {
    if (quote < at) quote = indexOrEnd(text, '"', at)
    if (feed < at) feed = indexOrEnd(text, '\n', at)
    if (carriage < at) carriage = indexOrEnd(text, '\r', at)
    const end = Math.min(feed, carriage)
    const next = carriage < feed && feed === end + 1 ? end + 2 : end + 1
    let record: CsvRecord
    try {
      // Most records have no quotes, and `split` is several times faster.
      record =
        quote < end
          ? readQuoted(text, at, { separator, number, maxCells })
          : { cells: text.slice(at, end).split(separator, maxCells && maxCells + 1), next }
      requireFewCells(record.cells, number, maxCells)
    } catch (error) {
      if (!malformed) throw error
      record = { cells: malformed(text.slice(at, end), error), next }
    }
    yield record.cells
    at = record.next
  }
}

function requireFewCells(cells: readonly string[], number: number, maxCells = Infinity): void {
  if (cells.length > maxCells) throw new Error(`line ${number} has more than ${maxCells} cells`)
}

function indexOrEnd(text: string, character: string, at: number): number {
  const index = text.indexOf(character, at)
  return index === -1 ? text.length : index
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
  ',': { plain: /[^",\r\n]*/y, next: / *(,|\r\n?|\n|$)/y },
  ';': { plain: /[^";\r\n]*/y, next: / *(;|\r\n?|\n|$)/y },
  '\t': { plain: /[^"\t\r\n]*/y, next: / *(\t|\r\n?|\n|$)/y },
}

const OPENING = / *"/y

interface CsvRecord {
  cells: string[]
  /** Where the next record begins. */
  next: number
}

interface QuotedOptions {
  separator: CsvSeparator
  number: number
  maxCells: number | undefined
}

function readQuoted(
  text: string,
  at: number,
  { separator, number, maxCells }: QuotedOptions,
): CsvRecord {
  const patterns = PATTERNS[separator]
  const cells: string[] = []
  for (let next = at; ;) {
    const [opening] = match(OPENING, text, next)
    if (opening === undefined) {
      const [cell = ''] = match(patterns.plain, text, next)
      cells.push(cell)
      next += cell.length
    } else {
      next += opening.length
      const closing = closingQuote(text, next, number)
      cells.push(text.slice(next, closing).replaceAll('""', '"'))
      next = closing + 1
    }
    const [found, end] = match(patterns.next, text, next)
    if (found === undefined) {
      throw new Error(`line ${number} has a quote inside a cell; expected it around the cell`)
    }
    next += found.length
    if (end !== separator) return { cells, next }
    requireFewCells(cells, number, maxCells)
  }
}

function closingQuote(text: string, start: number, number: number): number {
  let at = text.indexOf('"', start)
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  if (at === -1) throw new Error(`line ${number} has an unclosed quote`)
  return at
}

/** `pattern` must be sticky. */
function match(pattern: RegExp, text: string, at: number): readonly (string | undefined)[] {
  pattern.lastIndex = at
  return pattern.exec(text) ?? []
}
