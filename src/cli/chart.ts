import type { Point } from '../index.ts'

export interface ChartOptions {
  /** Width in characters, including axis and labels. */
  width: number
  /** Height in lines, without the time axis. */
  height: number
  hasUnicode: boolean
}

const MIN_WIDTH = 8

/** The highest and lowest rate on the left, the first and last day below. No lines if `width` is too small. */
export function drawChart(points: readonly Point[], options: ChartOptions): string[] {
  const { width, height, hasUnicode } = options
  const ink = hasUnicode ? BRAILLE : ASCII
  const rates = points.map(({ r }) => r)
  const [high, low] = [Math.max(...rates), Math.min(...rates)]
  const labelWidth = Math.max(String(high).length, String(low).length)
  const columns = width - labelWidth - 2
  if (columns < MIN_WIDTH || points.length === 0) return []
  const raster = { ink, columns, height }
  const cells = drawLine(toDots(points, raster), raster)
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

function toDots(points: readonly Point[], { ink, columns, height }: Raster): Dot[] {
  const days = points.map(({ d }) => Date.parse(d))
  const rates = points.map(({ r }) => r)
  const highest = height * ink.rows - 1
  const across = scale(days, columns * ink.columns - 1)
  const upwards = scale(rates, highest)
  return points.map((_, index) => ({
    x: across(days[index] ?? 0),
    y: highest - upwards(rates[index] ?? 0),
  }))
}

function scale(values: readonly number[], max: number): (value: number) => number {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)]
  const range = highest - lowest
  return (value) => Math.round(range === 0 ? max / 2 : ((value - lowest) / range) * max)
}

function toTimeAxis(points: readonly Point[], columns: number): string {
  const first = points[0]?.d ?? ''
  const last = points.at(-1)?.d ?? ''
  if (columns < last.length) return ''
  const hasRoom = columns > first.length + last.length
  return hasRoom ? first + last.padStart(columns - first.length) : last.padStart(columns)
}

interface Ink {
  columns: number
  rows: number
  /** Returns the character with these dots, one bit each, column by column from the top. */
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

/** The Unicode bits of Braille dots, in the order of `toCharacter`. */
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

interface Raster {
  ink: Ink
  columns: number
  height: number
}

/** A dot, counted from the top left. */
interface Dot {
  x: number
  y: number
}

function drawLine(dots: readonly Dot[], { ink, columns, height }: Raster): string[] {
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
