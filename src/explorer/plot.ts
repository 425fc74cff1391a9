import type { Point } from '../records/history.ts'
import { dayTicks } from './day-ticks.ts'
import { rateTicks } from './rate-ticks.ts'

/** Where a chart is drawn, in px. */
export interface Size {
  width: number
  height: number
}

/** A mark on an axis. */
export interface Tick {
  /** Px from the left, or from the top. */
  at: number
  label: string
}

/** A chart as it is to be drawn, in px. */
export interface Plot {
  /** Where the points are, one number each. */
  xs: number[]
  ys: number[]
  /** The line through them, as the `d` of a path. */
  line: string
  /** The same, closed along the lower edge. */
  area: string
  days: Tick[]
  rates: Tick[]
  /** Where the points lie: x of the left, y of the lower edge. */
  left: number
  bottom: number
}

const EDGE = { top: 10, right: 12, bottom: 26 }
/** Of a digit in a label of 12 px, and the gap between labels and line. */
const DIGIT_WIDTH = 7.3
const GAP = 10
/** Room for the label of a day. */
const DAY_WIDTH = 72

/** How `points`, one at least, ascending, are drawn on a chart of `size`. */
export function plotOf(points: readonly Point[], { width, height }: Size): Plot {
  const times = points.map(({ d }) => Date.parse(d))
  const rates = points.map(({ r }) => r)
  const marks = rateTicks(rates)
  const left = Math.max(...marks.labels.map(({ label }) => label.length)) * DIGIT_WIDTH + GAP
  const bottom = height - EDGE.bottom
  const [start, end] = [Math.min(...times), Math.max(...times)]
  const toX = scale([start, end], [left, width - EDGE.right])
  const toY = scale([marks.low, marks.high], [bottom, EDGE.top])
  const xs = times.map(toX)
  const ys = rates.map(toY)
  const line = `M${xs.map((x, index) => `${x.toFixed(1)} ${ys[index]?.toFixed(1)}`).join('L')}`
  return {
    xs,
    ys,
    line,
    area: `${line}L${xs.at(-1)?.toFixed(1)} ${bottom}L${xs[0]?.toFixed(1)} ${bottom}Z`,
    days: dayTicks(start, end, (width - left) / DAY_WIDTH).map(({ time, label }) => ({
      at: toX(time),
      label,
    })),
    rates: marks.labels.map(({ rate, label }) => ({ at: toY(rate), label })),
    left,
    bottom,
  }
}

/** The index of the number in `xs`, ascending, that is nearest to `x`. */
export function nearestIndex(xs: readonly number[], x: number): number {
  let [low, high] = [0, xs.length - 1]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((xs[middle] ?? 0) <= x) low = middle
    else high = middle
  }
  return Math.abs((xs[high] ?? 0) - x) < Math.abs((xs[low] ?? 0) - x) ? high : low
}

/** Maps `domain` to `range` along a line; a domain without extent to the middle of it. */
function scale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): (value: number) => number {
  if (from === to) return () => (start + end) / 2
  return (value) => start + ((value - from) / (to - from)) * (end - start)
}
