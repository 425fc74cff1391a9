import type { Point, RateHistory } from 'ratesmith/client'

import { createDrawing } from './drawing.ts'
import { find } from './elements.ts'
import { nearestIndex } from './plot.ts'

/**
 * Creates the chart with its crosshair. The crosshair snaps to the day nearest to the mouse or finger, or moves with the keys
 * of a slider. Otherwise the chart shows the newest day.
 */
export function createCrosshair(): { show(history: RateHistory): void } {
  const box = find('#plot', HTMLElement)
  const slider = find('input', HTMLInputElement, box)
  const drawing = createDrawing(box)
  let shown: RateHistory | undefined

  function readOut(index: number, isPointed: boolean): void {
    const point = shown?.points[index]
    if (!shown || !point) return
    slider.value = String(index)
    slider.ariaValueText = textOf(point)
    find('#reading', HTMLElement).textContent = String(point.r)
    find('#reading-unit', HTMLElement).textContent = shown.to
    find('#reading-day', HTMLElement).textContent = point.d
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

function textOf({ d, r }: Point): string {
  return `${d}: ${r}`
}
