import type { Point } from 'ratesmith/client'

import { find } from './dom.ts'
import { plotOf } from './plot.ts'
import type { Plot, Tick } from './plot.ts'

interface Picture {
  /** Series in the order of their colours. */
  series: readonly (readonly Point[])[]
  unit: string
  marks: readonly Mark[]
}

/** A label above or below a point. */
export interface Mark {
  index: number
  label: string
  isAbove: boolean
}

export function createDrawing(box: HTMLElement) {
  const svg = find('svg', SVGSVGElement, box)
  const hair = find('.hair', SVGLineElement, svg)
  const group = (name: string): SVGGElement => find(`.${name}`, SVGGElement, svg)
  let plot: Plot | undefined
  return {
    /** Draws, and returns the positions; undefined while the box has no size. */
    draw({ series, unit, marks }: Picture): Plot | undefined {
      const { clientWidth: width, clientHeight: height } = box
      // A hidden box has no size.
      if (width === 0) return undefined
      plot = plotOf(series, { width, height }, unit)
      const { lines, area } = plot
      svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
      find('.area', SVGPathElement, svg).setAttribute('d', series.length > 1 ? '' : area)
      group('axes').replaceChildren(...axes(plot, width))
      group('lines').replaceChildren(
        ...lines.map(({ path }, index) => shape('path', { d: path, class: `line s${index}` })),
      )
      group('marks').replaceChildren(...marksIn(plot, marks, width))
      return plot
    },
    /** Moves the dots to one point of each series, and shows the crosshair at `x` unless it is undefined. */
    point(indices: readonly (number | undefined)[], x: number | undefined): void {
      const dots = indices.flatMap((index, each) => {
        const { xs = [], ys = [] } = plot?.lines[each] ?? {}
        if (index === undefined) return []
        return shape('circle', { cx: xs[index] ?? 0, cy: ys[index] ?? 0, r: 4, class: `s${each}` })
      })
      group('dots').replaceChildren(...dots)
      place(hair, { x1: x ?? 0, x2: x ?? 0, y1: 0, y2: plot?.bottom ?? 0 })
      hair.classList.toggle('shown', x !== undefined)
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

function marksIn({ lines, left, bottom }: Plot, marks: readonly Mark[], width: number) {
  return marks.flatMap(({ index, label, isAbove }) => {
    const [x = 0, y = 0] = [lines[0]?.xs[index], lines[0]?.ys[index]]
    const below = y + 20 < bottom ? y + 18 : y - 10
    const side = x - left < 50 ? 'start' : width - x < 60 ? 'end' : 'middle'
    return [
      shape('circle', { cx: x, cy: y, r: 3 }),
      text({ at: x, label }, isAbove ? y - 9 : below, side),
    ]
  })
}

function text({ at, label }: Tick, y: number, anchor: string): SVGElement {
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
