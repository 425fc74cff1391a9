import type { Point } from '../../index.ts'

/** How a chart is drawn. */
export interface ChartOptions {
  /** Characters in a line, axis and labels included. */
  width: number
  /** Lines without the time axis. */
  height: number
  /** Whether it may be drawn with more than ASCII. */
  hasUnicode: boolean
}

/** A character and the dots in it. */
interface Ink {
  /** Dots beside and above each other. */
  columns: number
  rows: number
  /** The character with these dots, each a bit: column by column, downwards. */
  toCharacter(dots: number): string
  vertical: string
  corner: string
  horizontal: string
}

const ASCII: Ink = {
  columns: 1,
  rows: 1,
  toCharacter: (dots) => (dots === 0 ? ' ' : '*'),
  vertical: '|',
  corner: '+',
  horizontal: '-',
}

/** Where Unicode has the bits of the dots of a Braille character. */
const BRAILLE_BITS = [0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80]

const BRAILLE: Ink = {
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

/** A narrower line shows nothing. */
const LEAST_WIDTH = 8

/**
 * A line through `points` over time, with the highest and the lowest rate at its side, and the first and the last day
 * below; no lines at all where there is no room for any.
 */
export function drawChart(points: readonly Point[], options: ChartOptions): string[] {
  const { width, height, hasUnicode } = options
  const ink = hasUnicode ? BRAILLE : ASCII
  const rates = points.map(({ r }) => r)
  const [high, low] = [Math.max(...rates), Math.min(...rates)]
  const labelWidth = Math.max(String(high).length, String(low).length)
  const columns = width - labelWidth - 2
  if (columns < LEAST_WIDTH || points.length === 0) return []
  const cells = drawLine(
    toDots(points, { columns: columns * ink.columns, rows: height * ink.rows }),
    {
      ink,
      columns,
      height,
    },
  )
  const labels = new Map([
    [0, String(high)],
    [height - 1, String(low)],
  ])
  const lines = cells.map((line, index) => {
    const label = (labels.get(index) ?? '').padStart(labelWidth)
    return `${label} ${ink.vertical}${line}`.trimEnd()
  })
  const margin = ' '.repeat(labelWidth + 1)
  return [
    ...lines,
    `${margin}${ink.corner}${ink.horizontal.repeat(columns)}`,
    `${margin} ${toTimeAxis(points, columns)}`.trimEnd(),
  ]
}

/** A place on the raster, from the left and from the top. */
interface Dot {
  x: number
  y: number
}

/** Where the points are on a raster. */
function toDots(points: readonly Point[], raster: { columns: number; rows: number }): Dot[] {
  const days = points.map(({ d }) => Date.parse(d))
  const rates = points.map(({ r }) => r)
  const across = scale(days, raster.columns - 1)
  const upwards = scale(rates, raster.rows - 1)
  return points.map((_, index) => ({
    x: across(days[index] ?? 0),
    y: raster.rows - 1 - upwards(rates[index] ?? 0),
  }))
}

/** Whole numbers from 0 to `most` for values between the least and the greatest of `values`. */
function scale(values: readonly number[], most: number): (value: number) => number {
  const [least, greatest] = [Math.min(...values), Math.max(...values)]
  const range = greatest - least
  return (value) => Math.round(range === 0 ? most / 2 : ((value - least) / range) * most)
}

function drawLine(
  dots: readonly Dot[],
  { ink, columns, height }: { ink: Ink; columns: number; height: number },
): string[] {
  const cells = Array.from({ length: height }, () => new Uint8Array(columns))
  const set = ({ x, y }: Dot): void => {
    const line = cells[Math.floor(y / ink.rows)]
    const bit = (x % ink.columns) * ink.rows + (y % ink.rows)
    if (line)
      line[Math.floor(x / ink.columns)] = (line[Math.floor(x / ink.columns)] ?? 0) | (1 << bit)
  }
  for (const [index, dot] of dots.entries())
    for (const each of between(dots[index - 1] ?? dot, dot)) set(each)
  return cells.map((line) => Array.from(line, (bits) => ink.toCharacter(bits)).join(''))
}

/** Every dot of the straight line from one to another. */
function between(from: Dot, to: Dot): Dot[] {
  const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y), 1)
  return Array.from({ length: steps + 1 }, (_, step) => ({
    x: Math.round(from.x + ((to.x - from.x) * step) / steps),
    y: Math.round(from.y + ((to.y - from.y) * step) / steps),
  }))
}

/** The first day at the left and the last at the right, or what of that there is room for. */
function toTimeAxis(points: readonly Point[], columns: number): string {
  const first = points[0]?.d ?? ''
  const last = points.at(-1)?.d ?? ''
  if (columns < last.length) return ''
  const hasRoom = columns > first.length + last.length
  return hasRoom ? first + last.padStart(columns - first.length) : last.padStart(columns)
}
