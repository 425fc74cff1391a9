import type { RateHistory } from 'ratesmith/client'

import { find } from './dom.ts'
import { percentChanges, plotOf } from './plot.ts'
import type { Plot } from './plot.ts'

export interface Drawn {
  /** At least one, in the order of their colours. */
  histories: readonly RateHistory[]
  /** Whether they are in percent since their first days. */
  isPercent: boolean
  plot: Plot
}

export type Drawing = ReturnType<typeof createDrawing>

/** Creates the chart; dots mark the newest day. Calls `redrawn` with each picture, also after a change of its size. */
export function createDrawing() {
  const box = find('#plot')
  const svg = find('svg', SVGSVGElement, box)
  const hair = find('.hair', SVGLineElement, svg)
  const group = (name: string): SVGGElement => find(`.${name}`, SVGGElement, svg)
  let shown: Omit<Drawn, 'plot'> | undefined
  let plot: Plot | undefined
  let redrawn: ((drawn: Drawn) => void) | undefined

  function draw(): void {
    const { clientWidth: width, clientHeight: height } = box
    // A hidden box has no size.
    if (!shown || width === 0) return
    const { histories, isPercent } = shown
    const series = histories.map(({ points }) => (isPercent ? percentChanges(points) : points))
    plot = plotOf(series, { width, height }, isPercent ? ' %' : '')
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    find('.area', SVGPathElement, svg).setAttribute('d', series.length > 1 ? '' : plot.area)
    group('axes').replaceChildren(...axes(plot, width))
    group('lines').replaceChildren(
      ...plot.lines.map(({ path }, index) => shape('path', { d: path, class: `line s${index}` })),
    )
    group('marks').replaceChildren(...extremesOf(plot, histories))
    point(histories.map(({ points }) => points.length - 1))
    redrawn?.({ ...shown, plot })
  }
  /** Moves the dots to one point of each series, and shows the crosshair at `x` unless it is undefined. */
  function point(indices: readonly (number | undefined)[], x?: number): void {
    const dots = indices.flatMap((index, each) => {
      const { xs = [], ys = [] } = plot?.lines[each] ?? {}
      if (index === undefined) return []
      return shape('circle', { cx: xs[index] ?? 0, cy: ys[index] ?? 0, r: 4, class: `s${each}` })
    })
    group('dots').replaceChildren(...dots)
    place(hair, { x1: x ?? 0, x2: x ?? 0, y1: 0, y2: plot?.bottom ?? 0 })
    hair.classList.toggle('shown', x !== undefined)
  }
  new ResizeObserver(draw).observe(box)
  return {
    show(histories: readonly RateHistory[], isPercent: boolean): void {
      shown = { histories, isPercent }
      draw()
    },
    point,
    follow(callback: (drawn: Drawn) => void): void {
      redrawn = callback
      draw()
    },
  }
}

function axes({ days, rates, left, bottom }: Plot, width: number): SVGElement[] {
  return [
    ...rates.flatMap(({ at, label }) => [
      shape('line', { x1: left, x2: width, y1: at, y2: at }),
      text({ at: left - 8, label }, at + 4, 'end'),
    ]),
    ...days.map((tick) => text(tick, bottom + 18, 'middle')),
  ]
}

/** Returns circles around the highest and the lowest point of a single history. */
function extremesOf({ lines }: Plot, [history, second]: readonly RateHistory[]): SVGElement[] {
  if (!history || second || history.stats.high === history.stats.low) return []
  const { points, stats } = history
  return [stats.highDate, stats.lowDate].map((day) => {
    const index = points.findIndex(({ d }) => d === day)
    return shape('circle', { cx: lines[0]?.xs[index] ?? 0, cy: lines[0]?.ys[index] ?? 0, r: 3.5 })
  })
}

function text({ at, label }: Plot['days'][number], y: number, anchor: string): SVGElement {
  const element = shape('text', { x: at, y, 'text-anchor': anchor })
  element.textContent = label
  return element
}

function shape(
  name: 'circle' | 'line' | 'path' | 'text',
  attributes: Record<string, string | number>,
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  place(element, attributes)
  return element
}

function place(element: SVGElement, attributes: Record<string, string | number>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
}
