import type { RateHistory } from 'ratesmith/client'
import { find, make } from './dom.ts'
import { createDrawing } from './drawing.ts'
import type { Mark } from './drawing.ts'
import { formatChange, formatRate } from './figures.ts'
import { nearestIndex, percentChanges } from './plot.ts'
import type { Plot } from './plot.ts'

/** Points of other series farther away, in ms, are not of the day in the readout. */
const MAX_DISTANCE_MS = 8 * 86_400_000

/**
 * Creates the chart with its crosshair. The crosshair snaps to the day nearest to the mouse or finger, or moves with the keys
 * of a slider. Otherwise dots mark the newest day.
 */
// oxlint-disable-next-line max-lines-per-function -- one state over its closures.
export function createCrosshair() {
  const box = find('#plot')
  const slider = find('input', HTMLInputElement, box)
  const tip = find('#tip', HTMLElement, box)
  const drawing = createDrawing(box)
  let shown: readonly RateHistory[] = []
  let isPercent = false
  /** The longest series, over whose days the crosshair moves. */
  let guide = 0
  let plot: Plot | undefined

  function readOut(index: number, isPointed: boolean): void {
    const day = shown[guide]?.points[index]?.d
    const x = plot?.lines[guide]?.xs[index]
    if (day === undefined || x === undefined) return
    const indices = shown.map(({ points }, each) => {
      const at = nearestIndex(plot?.lines[each]?.xs ?? [], x)
      const distance = Date.parse(points[at]?.d ?? '') - Date.parse(day)
      return Math.abs(distance) <= MAX_DISTANCE_MS ? at : undefined
    })
    const texts = shown.map((history, each) => textAt(history, indices[each], isPercent))
    slider.value = String(index)
    slider.ariaValueText = `${day}: ${texts.join(', ')}`
    drawing.point(indices, isPointed ? x : undefined)
    tip.hidden = !isPointed
    if (!isPointed) return
    tip.replaceChildren(make('b', {}, day), ...texts.map(rowOf))
    moveTip(tip, box, x, plot?.lines[guide]?.ys[index] ?? 0)
  }

  function rest(): void {
    const isFocused = document.activeElement === slider
    const newest = (shown[guide]?.points.length ?? 0) - 1
    readOut(isFocused ? Number(slider.value) : newest, isFocused)
  }

  function draw(): void {
    if (shown.length === 0) return
    const series = shown.map(({ points }) => (isPercent ? percentChanges(points) : points))
    plot = drawing.draw({ series, unit: isPercent ? ' %' : '', marks: extremesOf(shown[0]) })
    rest()
  }

  function follow({ clientX }: PointerEvent): void {
    const xs = plot?.lines[guide]?.xs ?? []
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
  new ResizeObserver(draw).observe(box)
  return {
    /** Shows at least one history, in units or in percent since its first day. */
    show(histories: readonly RateHistory[], inPercent: boolean): void {
      shown = histories
      isPercent = inPercent
      const lengths = histories.map(({ points }) => points.length)
      guide = lengths.indexOf(Math.max(...lengths))
      slider.max = String((lengths[guide] ?? 1) - 1)
      draw()
    },
  }
}

/** Returns the labels of the highest and the lowest point, unless all are equal. */
function extremesOf(history: RateHistory | undefined): Mark[] {
  if (!history || history.stats.high === history.stats.low) return []
  const { points, stats } = history
  const mark = (date: string, rate: number, isAbove: boolean): Mark => ({
    index: points.findIndex(({ d }) => d === date),
    label: `${isAbove ? 'High' : 'Low'} ${formatRate(rate)}`,
    isAbove,
  })
  return [mark(stats.highDate, stats.high, true), mark(stats.lowDate, stats.low, false)]
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
