import type { Point } from 'ratesmith/client'

import { dayTicks } from './day-ticks.ts'
import { rateTicks } from './rate-ticks.ts'

/** Size of a chart, in px. */
export interface Size {
  width: number
  height: number
}

/** A labelled position on an axis. */
export interface Tick {
  /** Px from the left, or from the top. */
  at: number
  label: string
}

/** Coordinates of a chart, in px. */
export interface Plot {
  /** Positions of the points. */
  xs: number[]
  ys: number[]
  /** The line through them, as the `d` of a path. */
  line: string
  /** The line, closed along the lower edge. */
  area: string
  days: Tick[]
  rates: Tick[]
  /** Left edge and lower edge of the plot area. */
  left: number
  bottom: number
}

const EDGE = { top: 10, right: 12, bottom: 26 }
/** Of a digit at a font size of 12 px. */
const DIGIT_WIDTH = 7.3
const GAP = 10
const DAY_LABEL_WIDTH = 72

/** Computes a chart of `points`, at least one, in ascending order. */
export function plotOf(points: readonly Point[], { width, height }: Size): Plot {
  const times = points.map(({ d }) => Date.parse(d))
  const rates = points.map(({ r }) => r)
  const axis = rateTicks(rates)
  const left = Math.max(...axis.labels.map(({ label }) => label.length)) * DIGIT_WIDTH + GAP
  const bottom = height - EDGE.bottom
  const [start, end] = [Math.min(...times), Math.max(...times)]
  const toX = scale([start, end], [left, width - EDGE.right])
  const toY = scale([axis.low, axis.high], [bottom, EDGE.top])
  const xs = times.map(toX)
  const ys = rates.map(toY)
  const line = `M${xs.map((x, index) => `${x.toFixed(1)} ${ys[index]?.toFixed(1)}`).join('L')}`
  return {
    xs,
    ys,
    line,
    area: `${line}L${xs.at(-1)?.toFixed(1)} ${bottom}L${xs[0]?.toFixed(1)} ${bottom}Z`,
    days: dayTicks(start, end, (width - left) / DAY_LABEL_WIDTH).map(({ time, label }) => ({
      at: toX(time),
      label,
    })),
    rates: axis.labels.map(({ rate, label }) => ({ at: toY(rate), label })),
    left,
    bottom,
  }
}

/** Returns the index of the number in `xs`, in ascending order, that is nearest to `x`. */
export function nearestIndex(xs: readonly number[], x: number): number {
  let [low, high] = [0, xs.length - 1]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((xs[middle] ?? 0) <= x) low = middle
    else high = middle
  }
  return Math.abs((xs[high] ?? 0) - x) < Math.abs((xs[low] ?? 0) - x) ? high : low
}

/** Maps a domain linearly to a range; an empty domain maps to the middle. */
function scale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): (value: number) => number {
  if (from === to) return () => (start + end) / 2
  return (value) => start + ((value - from) / (to - from)) * (end - start)
}
