import type { RateHistory } from 'ratesmith/client'

import { find, make } from './dom.ts'
import type { Drawing, Drawn } from './drawing.ts'
import { formatChange, formatRate } from './figures.ts'
import { nearestIndex } from './plot.ts'
import { DAY_MS, dayInWords } from './times.ts'

/** Points of other series farther away, in ms, are not of the day in the readout. */
const MAX_DISTANCE_MS = 8 * DAY_MS

/**
 * Creates the crosshair of the chart, which snaps to the day nearest to the mouse or finger, or moves with the keys of a slider.
 */
// oxlint-disable-next-line max-lines-per-function -- one state over its closures.
export function createCrosshair(drawing: Drawing): void {
  const box = find('#plot')
  const slider = find('input', HTMLInputElement, box)
  const tip = find('#tip', HTMLElement, box)
  let drawn: Drawn | undefined
  /** The longest series, over whose days the crosshair moves. */
  let guide = 0

  function readOut(index: number, isPointed: boolean): void {
    if (!drawn) return
    const { histories, isPercent, plot } = drawn
    const day = histories[guide]?.points[index]?.d
    const x = plot.lines[guide]?.xs[index]
    if (day === undefined || x === undefined) return
    const indices = histories.map(({ points }, each) => {
      const at = nearestIndex(plot.lines[each]?.xs ?? [], x)
      const distance = Date.parse(points[at]?.d ?? '') - Date.parse(day)
      return Math.abs(distance) <= MAX_DISTANCE_MS ? at : undefined
    })
    const texts = histories.map((history, each) => textAt(history, indices[each], isPercent))
    slider.value = String(index)
    slider.ariaValueText = `${dayInWords(day)}: ${texts.join(', ')}`
    drawing.point(indices, isPointed ? x : undefined)
    tip.hidden = !isPointed
    if (!isPointed) return
    tip.replaceChildren(make('b', {}, dayInWords(day)), ...texts.map(rowOf))
    moveTip(tip, box, x, plot.lines[guide]?.ys[index] ?? 0)
  }
  function rest(): void {
    const isFocused = document.activeElement === slider
    readOut(isFocused ? Number(slider.value) : Number(slider.max), isFocused)
  }
  function follow({ clientX }: PointerEvent): void {
    const xs = drawn?.plot.lines[guide]?.xs ?? []
    readOut(nearestIndex(xs, clientX - box.getBoundingClientRect().left), true)
  }

  for (const event of ['pointermove', 'pointerdown'] as const) box.addEventListener(event, follow)
  box.addEventListener('pointerleave', ({ pointerType }) => {
    // Keeps the day shown after a touch ends, when the finger no longer covers it.
    if (pointerType === 'mouse') rest()
  })
  for (const event of ['input', 'focus']) {
    slider.addEventListener(event, () => readOut(Number(slider.value), true))
  }
  slider.addEventListener('blur', rest)
  drawing.follow((next) => {
    drawn = next
    const lengths = next.histories.map(({ points }) => points.length)
    guide = lengths.indexOf(Math.max(...lengths))
    slider.max = String((lengths[guide] ?? 1) - 1)
    rest()
  })
}

function textAt(
  { points, to }: RateHistory,
  index: number | undefined,
  isPercent: boolean,
): string {
  const [first, point] = [points[0], points[index ?? -1]]
  if (index === undefined || !first || !point) return `– ${to}`
  const change = isPercent ? ` (${formatChange((point.r / first.r - 1) * 100)})` : ''
  return `${formatRate(point.r)} ${to}${change}`
}

function rowOf(text: string, index: number): HTMLElement {
  return make('span', { className: `s${index}` }, text)
}

function moveTip(tip: HTMLElement, box: HTMLElement, x: number, y: number): void {
  const { offsetWidth: width, offsetHeight: height } = tip
  const isRight = x + 14 + width <= box.clientWidth
  const left = isRight ? x + 14 : Math.max(0, x - 14 - width)
  const top = Math.max(0, Math.min(y - height - 8, box.clientHeight - height))
  tip.style.translate = `${left}px ${top}px`
}
