import type { Point } from 'ratesmith/client'

import { find } from './elements.ts'
import { plotOf } from './plot.ts'
import type { Plot, Tick } from './plot.ts'

/** A chart that fills its box. */
export interface Drawing {
  draw(points: readonly Point[]): void
  /** Returns the positions of the points, in px from the left. */
  xs(): readonly number[]
  /** Moves the dot to a point, and shows the crosshair there if `isPointed`. */
  point(index: number, isPointed: boolean): void
}

/** Creates the drawing in the `svg` of `box`. */
export function createDrawing(box: HTMLElement): Drawing {
  const svg = find('svg', SVGSVGElement, box)
  const hair = find('.hair', SVGLineElement, svg)
  const dot = find('circle', SVGCircleElement, svg)
  let plot: Plot | undefined
  return {
    draw(points) {
      const { clientWidth: width, clientHeight: height } = box
      // A hidden box has no size.
      if (width === 0) return
      plot = plotOf(points, { width, height })
      svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
      find('.line', SVGPathElement, svg).setAttribute('d', plot.line)
      find('.area', SVGPathElement, svg).setAttribute('d', plot.area)
      find('.axes', SVGGElement, svg).replaceChildren(...axes(plot, width))
    },
    xs: () => plot?.xs ?? [],
    point(index, isPointed) {
      const [x = 0, y = 0] = [plot?.xs[index], plot?.ys[index]]
      place(dot, { cx: x, cy: y })
      place(hair, { x1: x, x2: x, y1: 0, y2: plot?.bottom ?? 0 })
      hair.classList.toggle('shown', isPointed)
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

function text({ at, label }: Tick, y: number, anchor: string): SVGElement {
  const element = shape('text', { x: at, y, 'text-anchor': anchor })
  element.textContent = label
  return element
}

function shape(name: 'line' | 'text', attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  place(element, attributes)
  return element
}

function place(element: SVGElement, attributes: Record<string, string | number>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
}
