import type { Point } from '../index.ts'
import { grouped } from './terminal.ts'
import type { Terminal } from './terminal.ts'

const HEIGHT = 10
const MIN_WIDTH = 8

/** Of a Braille character, the Unicode bits of its dots, column by column from the top. */
const DOTS = [0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80]

/** The highest and lowest rate on the left, the first and last day below. No lines on a terminal that is too narrow. */
export function drawChart(points: readonly Point[], { width, hasUnicode }: Terminal): string[] {
  const rates = points.map(({ r }) => r)
  const [high = '', low = ''] = [Math.max(...rates), Math.min(...rates)].map(grouped)
  const margin = Math.max(high.length, low.length)
  const columns = width - margin - 2
  if (columns < MIN_WIDTH || points.length === 0) return []
  const [vertical, corner, horizontal] = hasUnicode
    ? (['│', '└', '─'] as const)
    : (['|', '+', '-'] as const)
  const lines = drawLine(points, columns, hasUnicode).map((line, index) => {
    const label = index === 0 ? high : index === HEIGHT - 1 ? low : ''
    return `${label.padStart(margin)} ${vertical}${line}`.trimEnd()
  })
  const axis = corner + horizontal.repeat(columns)
  const indent = ' '.repeat(margin + 1)
  return [...lines, indent + axis, `${indent} ${toTimeAxis(points, columns)}`.trimEnd()]
}

function toTimeAxis(points: readonly Point[], columns: number): string {
  const [first, last] = [points[0]?.d ?? '', points.at(-1)?.d ?? '']
  if (columns < last.length) return ''
  const hasRoom = columns > first.length + last.length
  return hasRoom ? first + last.padStart(columns - first.length) : last.padStart(columns)
}

/** Draws with one dot per character, or with eight. */
function drawLine(points: readonly Point[], columns: number, hasUnicode: boolean): string[] {
  const [across, down] = hasUnicode ? [2, 4] : [1, 1]
  const cells = Array.from({ length: HEIGHT }, () => new Uint8Array(columns))
  const xs = scaled(
    points.map(({ d }) => Date.parse(d)),
    columns * across - 1,
  )
  const ys = scaled(
    points.map(({ r }) => -r),
    HEIGHT * down - 1,
  )
  for (const [index, x] of xs.entries()) {
    const y = ys[index] ?? 0
    const [fromX, fromY] = [xs[index - 1] ?? x, ys[index - 1] ?? y]
    const steps = Math.max(Math.abs(x - fromX), Math.abs(y - fromY), 1)
    for (let step = 0; step <= steps; step += 1) {
      const left = Math.round(fromX + ((x - fromX) * step) / steps)
      const top = Math.round(fromY + ((y - fromY) * step) / steps)
      const line = cells[Math.floor(top / down)]
      const column = Math.floor(left / across)
      const dot = DOTS[(left % across) * down + (top % down)] ?? 0
      if (line) line[column] = (line[column] ?? 0) | dot
    }
  }
  const characterOf = (dots: number): string =>
    dots === 0 ? ' ' : hasUnicode ? String.fromCodePoint(0x2800 + dots) : '*'
  return cells.map((line) => Array.from(line, characterOf).join(''))
}

/** Returns whole numbers from 0 to `max`; the middle if all values are equal. */
function scaled(values: readonly number[], max: number): number[] {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)]
  const range = highest - lowest
  return values.map((value) =>
    range === 0 ? Math.floor(max / 2) : Math.round(((value - lowest) / range) * max),
  )
}
