/**
 * Yields the cells of every record of a CSV (RFC 4180). Lines may end with CRLF or LF; the last line may end with neither.
 *
 * @throws {Error} if a quote is not closed, or is inside a cell
 */
export function* readCsv(text: string): Generator<string[]> {
  let at = 0
  let quote = text.indexOf('"')
  for (let number = 1; at < text.length; number += 1) {
    const feed = text.indexOf('\n', at)
    const end = feed === -1 ? text.length : feed
    if (quote !== -1 && quote < end) {
      const { cells, next } = readQuoted(text, at, number)
      yield cells
      at = next
      quote = text.indexOf('"', at)
    } else {
      // Most records have no quotes, and `split` is several times faster.
      yield text.slice(at, text[end - 1] === '\r' ? end - 1 : end).split(',')
      at = end + 1
    }
  }
}

const PLAIN = /[^",\r\n]*/y

const SEPARATOR = /,|\r?\n|$/y

function readQuoted(text: string, at: number, number: number): { cells: string[]; next: number } {
  const cells: string[] = []
  for (let next = at; ;) {
    const closing = text[next] === '"' ? closingQuote(text, next, number) : undefined
    if (closing === undefined) {
      const cell = match(PLAIN, text, next) ?? ''
      cells.push(cell)
      next += cell.length
    } else {
      cells.push(text.slice(next + 1, closing).replaceAll('""', '"'))
      next = closing + 1
    }
    const separator = match(SEPARATOR, text, next)
    if (separator === undefined) {
      throw new Error(`line ${number} has a quote inside a cell; expected it around the cell`)
    }
    next += separator.length
    if (separator !== ',') return { cells, next }
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
