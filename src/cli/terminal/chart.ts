import type { Point } from '../../index.ts'
import { ASCII, BRAILLE, drawLine } from './raster.ts'
import type { Dot, Raster } from './raster.ts'

/** Options of `drawChart()`. */
export interface ChartOptions {
  /** Width in characters, including axis and labels. */
  width: number
  /** Height in lines, without the time axis. */
  height: number
  /** Draws with Braille characters instead of ASCII. */
  hasUnicode: boolean
}

const MIN_WIDTH = 8

/**
 * Draws `points` as a line over time, with the highest and lowest rate on the left and the first and last day below. Returns
 * no lines if `width` is too small.
 */
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

/** Returns a function that maps the range of `values` to integers from 0 to `max`. */
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
