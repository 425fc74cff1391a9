import type { Point } from '../../index.ts'
import { ASCII, BRAILLE, drawLine } from './raster.ts'
import type { Dot, Raster } from './raster.ts'

/** How a chart is drawn. */
export interface ChartOptions {
  /** Characters in a line, axis and labels included. */
  width: number
  /** Lines without the time axis. */
  height: number
  /** Whether it may be drawn with more than ASCII. */
  hasUnicode: boolean
}

/** A narrower line shows nothing. */
const MIN_WIDTH = 8

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

/** Where the points are on a raster. */
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

/** Whole numbers from 0 to `most` for values between the least and the greatest of `values`. */
function scale(values: readonly number[], most: number): (value: number) => number {
  const [least, greatest] = [Math.min(...values), Math.max(...values)]
  const range = greatest - least
  return (value) => Math.round(range === 0 ? most / 2 : ((value - least) / range) * most)
}

/** The first day at the left and the last at the right, or what of that there is room for. */
function toTimeAxis(points: readonly Point[], columns: number): string {
  const first = points[0]?.d ?? ''
  const last = points.at(-1)?.d ?? ''
  if (columns < last.length) return ''
  const hasRoom = columns > first.length + last.length
  return hasRoom ? first + last.padStart(columns - first.length) : last.padStart(columns)
}
