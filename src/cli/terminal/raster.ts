/** A character set for drawing, with a grid of dots in each character. */
export interface Ink {
  /** Columns of dots per character. */
  columns: number
  /** Rows of dots per character. */
  rows: number
  /** Returns the character with these dots, one bit each, column by column from the top. */
  toCharacter(dots: number): string
  vertical: string
  corner: string
  horizontal: string
}

/** One dot per character. */
export const ASCII: Ink = {
  columns: 1,
  rows: 1,
  toCharacter: (dots) => (dots === 0 ? ' ' : '*'),
  vertical: '|',
  corner: '+',
  horizontal: '-',
}

/** The Unicode bits of Braille dots, in the order of `toCharacter`. */
const BRAILLE_BITS = [0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80]

/** Eight dots per character. */
export const BRAILLE: Ink = {
  columns: 2,
  rows: 4,
  toCharacter(dots) {
    if (dots === 0) return ' '
    const bits = BRAILLE_BITS.filter((_, dot) => dots & (1 << dot))
    return String.fromCodePoint(0x2800 + bits.reduce((sum, bit) => sum + bit, 0))
  },
  vertical: '│',
  corner: '└',
  horizontal: '─',
}

/** A drawing area. */
export interface Raster {
  ink: Ink
  /** Width in characters. */
  columns: number
  /** Height in lines. */
  height: number
}

/** A dot, counted from the top left. */
export interface Dot {
  x: number
  y: number
}

/** Draws straight lines from each dot to the next; returns lines of characters. */
export function drawLine(dots: readonly Dot[], { ink, columns, height }: Raster): string[] {
  const cells = Array.from({ length: height }, () => new Uint8Array(columns))
  const set = ({ x, y }: Dot): void => {
    const line = cells[Math.floor(y / ink.rows)]
    const column = Math.floor(x / ink.columns)
    const bit = (x % ink.columns) * ink.rows + (y % ink.rows)
    if (line) line[column] = (line[column] ?? 0) | (1 << bit)
  }
  for (const [index, dot] of dots.entries()) {
    for (const each of between(dots[index - 1] ?? dot, dot)) set(each)
  }
  return cells.map((line) => Array.from(line, (bits) => ink.toCharacter(bits)).join(''))
}

function between(from: Dot, to: Dot): Dot[] {
  const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y), 1)
  return Array.from({ length: steps + 1 }, (_, step) => ({
    x: Math.round(from.x + ((to.x - from.x) * step) / steps),
    y: Math.round(from.y + ((to.y - from.y) * step) / steps),
  }))
}
