import type { Point } from 'ratesmith/client'

import { DAY_MS, formatDay } from './times.ts'

const EDGE = { top: 22, right: 12, bottom: 26 }
/** Of a digit at a font size of 12 px. */
const DIGIT_WIDTH = 7.3
const GAP = 10
const DAY_LABEL_WIDTH = 88

/** Coordinates of a chart, and the labels of its axes, in px from the left and from the top. */
export type Plot = ReturnType<typeof plotOf>

/**
 * Computes a chart of at least one series of at least one point, in ascending order; `unit` ends the labels of its rates. The
 * labels of days are in the middle of their positions. `area` is the first line, closed along the lower edge.
 */
export function plotOf(
  series: readonly (readonly Point[])[],
  { width, height }: { width: number; height: number },
  unit = '',
) {
  const times = series.map((points) => points.map(({ d }) => Date.parse(d)))
  const axis = rateTicks(
    series.flatMap((points) => points.map(({ r }) => r)),
    unit,
  )
  const left = Math.max(...axis.labels.map(({ label }) => label.length)) * DIGIT_WIDTH + GAP
  const bottom = height - EDGE.bottom
  const start = Math.min(...times.map(([first = 0]) => first))
  const end = Math.max(...times.map((each) => each.at(-1) ?? 0))
  const toX = scale([start, end], [left, width - EDGE.right])
  const toY = scale([axis.low, axis.high], [bottom, EDGE.top])
  const lines = series.map((points, index) =>
    lineOf(
      (times[index] ?? []).map(toX),
      points.map(({ r }) => toY(r)),
    ),
  )
  const { xs, path } = lines[0] ?? lineOf([], [])
  return {
    lines,
    area: `${path}V${bottom}H${xs[0]?.toFixed(1)}Z`,
    days: dayTicks(start, end, (width - left) / DAY_LABEL_WIDTH).map(({ time, label }) => ({
      // The last label would leave the chart.
      at: Math.min(toX(time), width - (label.length * DIGIT_WIDTH) / 2),
      label,
    })),
    rates: axis.labels.map(({ rate, label }) => ({ at: toY(rate), label })),
    left,
    bottom,
  }
}

/** Returns positions with the line through them, as the `d` of a path. */
function lineOf(xs: number[], ys: number[]) {
  const path = `M${xs.map((x, index) => `${x.toFixed(1)} ${ys[index]?.toFixed(1)}`).join('L')}`
  return { xs, ys, path }
}

/** Returns a line through points in a box of 100 by 20, as the `d` of a path. */
export function sparkline(points: readonly Point[]): string {
  const times = points.map(({ d }) => Date.parse(d))
  const rates = points.map(({ r }) => r)
  const toX = scale([times[0] ?? 0, times.at(-1) ?? 0], [0, 100])
  const toY = scale([Math.min(...rates), Math.max(...rates)], [19, 1])
  return lineOf(times.map(toX), rates.map(toY)).path
}

/** Returns points with their change since the first one, in percent. */
export function percentChanges(points: readonly Point[]): Point[] {
  const [{ r: first } = { r: 1 }] = points
  return points.map(({ d, r }) => ({ d, r: (r / first - 1) * 100 }))
}

export function nearestIndex(xs: readonly number[], x: number): number {
  const distances = xs.map((each) => Math.abs(each - x))
  return distances.indexOf(Math.min(...distances))
}

/** Maps a domain linearly to a range; an empty domain maps to the middle. */
function scale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): (value: number) => number {
  if (from === to) return () => (start + end) / 2
  return (value) => start + ((value - from) / (to - from)) * (end - start)
}

/** Returns ticks at equal distances back from the end, at most `maxTicks` and at most one a day, from `start` to `end` (ms). */
function dayTicks(start: number, end: number, maxTicks: number): { time: number; label: string }[] {
  const days = Math.round((end - start) / DAY_MS)
  const count = Math.min(days + 1, Math.floor(maxTicks))
  const step = Math.ceil(days / count) || 1
  const isLong = days > 300
  return Array.from({ length: count }, (_, index) => {
    const time = end - (count - 1 - index) * step * DAY_MS
    return { time, label: formatDay(time, isLong ? MONTH : DAY) }
  }).filter(({ time }) => time >= start)
}

const DAY = { day: 'numeric', month: 'short' } as const
const MONTH = { month: 'short', year: 'numeric' } as const

const TARGET_TICKS = 4

/** Returns round numbers from below the lowest to above the highest of `rates`; their labels end with `unit`. */
function rateTicks(rates: readonly number[], unit: string) {
  let [low, high] = [Math.min(...rates), Math.max(...rates)]
  // Places a constant rate in the middle.
  if (low === high) {
    const margin = Math.abs(low) * 0.01 || 1
    ;[low, high] = [low - margin, high + margin]
  }
  const step = roundStep((high - low) / TARGET_TICKS)
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)]
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  return {
    low: first * step,
    high: last * step,
    labels: Array.from({ length: last - first + 1 }, (_, index) => {
      const rate = (first + index) * step
      return { rate, label: rate.toFixed(Math.min(digits, 20)) + unit }
    }),
  }
}

function roundStep(min: number): number {
  const power = 10 ** Math.floor(Math.log10(min))
  const multiple = [1, 2, 5, 10].find((multiple) => multiple * power >= min * (1 - 1e-9)) ?? 10
  return multiple * power
}
