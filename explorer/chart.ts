import type { Point, RateHistory } from 'ratesmith/client'

import { dateInWords, find, make } from './dom.ts'
import type { Part, View } from './dom.ts'
import type { Api } from './api.ts'
import { createPanel } from './panel.ts'
import { nearestIndex, plotOf } from './plot.ts'
import type { Plot, Tick } from './plot.ts'

/** Creates the section with the rate history of the converter's currency pair. */
export function createHistoryChart(api: Api, change: (to: Partial<View>) => void): Part {
  const section = find('#chart', HTMLElement)
  const choice = find('.periods', HTMLFieldSetElement, section)
  const periods = [...section.querySelectorAll<HTMLInputElement>('[name=period]')]
  const none = find('#none', HTMLElement)
  const crosshair = createCrosshair()
  const days = createDayTable()
  const panel = createPanel(section, api, {
    operation: 'history',
    show(history) {
      showStats(history)
      crosshair.show(history)
      days.show(history)
      const newest = history.points.at(-1)?.d ?? ''
      find('.age', HTMLElement, section).textContent = `Newest day: ${dateInWords(newest)}`
    },
  })
  for (const radio of periods) {
    radio.addEventListener('change', () => change({ period: radio.value }))
  }
  return {
    ...panel,
    tick() {},
    show({ from, to, period }, { coverage }) {
      find('#pair', HTMLElement).textContent = `${from} in ${to}`
      for (const radio of periods) radio.checked = radio.value === period
      if (!coverage) return
      const reason = coverage.whyNone(from, to)
      choice.disabled = reason !== undefined
      none.textContent = reason ?? ''
      if (reason === undefined) panel.load({ from, to, period })
      else panel.clear()
    },
  }
}

function showStats({ stats }: RateHistory): void {
  const { high, highDate, low, lowDate, average, changePct } = stats
  const sign = changePct > 0 ? '▲ +' : changePct < 0 ? '▼ −' : ''
  const texts = {
    high: String(high),
    'high-date': highDate,
    low: String(low),
    'low-date': lowDate,
    average: String(average),
    change: `${sign}${Math.abs(changePct)} %`,
  }
  for (const [id, text] of Object.entries(texts)) find(`#${id}`, HTMLElement).textContent = text
}

/**
 * Creates the chart with its crosshair. The crosshair snaps to the day nearest to the mouse or finger, or moves with the keys
 * of a slider. Otherwise the chart shows the newest day.
 */
function createCrosshair(): { show(history: RateHistory): void } {
  const box = find('#plot', HTMLElement)
  const slider = find('input', HTMLInputElement, box)
  const drawing = createDrawing(box)
  let shown: RateHistory | undefined

  function readOut(index: number, isPointed: boolean): void {
    const point = shown?.points[index]
    if (!shown || !point) return
    slider.value = String(index)
    slider.ariaValueText = `${point.d}: ${point.r}`
    showReading(point, shown.to)
    drawing.point(index, isPointed)
  }

  function rest(): void {
    if (!shown) return
    const isFocused = document.activeElement === slider
    readOut(isFocused ? Number(slider.value) : shown.points.length - 1, isFocused)
  }

  function draw(): void {
    if (!shown) return
    drawing.draw(shown.points)
    rest()
  }

  function follow({ clientX }: PointerEvent): void {
    readOut(nearestIndex(drawing.xs(), clientX - box.getBoundingClientRect().left), true)
  }

  for (const event of ['pointermove', 'pointerdown'] as const) box.addEventListener(event, follow)
  box.addEventListener('pointerleave', ({ pointerType }) => {
    // Keeps the day shown after a touch ends, when the finger no longer covers it.
    if (pointerType === 'mouse') rest()
  })
  slider.addEventListener('input', () => readOut(Number(slider.value), true))
  slider.addEventListener('focus', () => readOut(Number(slider.value), true))
  slider.addEventListener('blur', rest)
  new ResizeObserver(draw).observe(box)
  return {
    show(history) {
      shown = history
      slider.max = String(history.points.length - 1)
      draw()
    },
  }
}

function showReading({ d, r }: Point, unit: string): void {
  find('#reading', HTMLElement).textContent = String(r)
  find('#reading-unit', HTMLElement).textContent = unit
  find('#reading-day', HTMLElement).textContent = d
}

/** A chart that fills its box. */
interface Drawing {
  draw(points: readonly Point[]): void
  /** Returns the positions of the points, in px from the left. */
  xs(): readonly number[]
  /** Moves the dot to a point, and shows the crosshair there if `isPointed`. */
  point(index: number, isPointed: boolean): void
}

/** Creates the drawing in the `svg` of `box`. */
function createDrawing(box: HTMLElement): Drawing {
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

/** Creates the table of daily rates. Rows are created when it opens, as there may be more than a thousand. */
function createDayTable(): { show(history: RateHistory): void } {
  const details = find('#days', HTMLDetailsElement)
  const body = find('tbody', HTMLTableSectionElement, details)
  let shown: RateHistory | undefined
  function fill(): void {
    if (!shown || !details.open) return
    const { points } = shown
    body.replaceChildren(
      ...points.toReversed().map(({ d, r }) => {
        const head = make('th', d)
        head.scope = 'row'
        return make('tr', head, make('td', String(r)))
      }),
    )
  }
  details.addEventListener('toggle', fill)
  return {
    show(history) {
      shown = history
      const { from, to, points } = history
      find('summary', HTMLElement, details).textContent = `Show ${points.length} daily rates`
      find('#day-unit', HTMLElement).textContent = `1 ${from} in ${to}`
      fill()
    },
  }
}
