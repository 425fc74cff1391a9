import type { RateHistory } from 'ratesmith/client'

import type { ApiRequest } from './api.ts'
import { DAY_MS, find } from './dom.ts'
import type { View } from './dom.ts'

export const FIRST_DAY = '1999-01-04'
/** Longer responses have a rate per week: some 70 kB with compression. */
const MAX_POINTS = 9_000

export function parametersOf(view: View, compared: readonly string[]): ApiRequest['parameters'] {
  const { from, to, period, start, end } = view
  const pair = { from, to: [to, ...compared].join() }
  if (!start && !end && period !== 'MAX') return { ...pair, period }
  const since = start || FIRST_DAY
  const days = ((end ? Date.parse(end) : Date.now()) - Date.parse(since)) / DAY_MS
  return {
    ...pair,
    start: since,
    ...(end && { end }),
    ...((days * 5 * (compared.length + 1)) / 7 > MAX_POINTS && { interval: 'week' }),
  }
}

/** Creates the choice of a period, or of the first and last day. */
export function createRange(section: HTMLElement, change: (to: Partial<View>) => void) {
  const periods = [...section.querySelectorAll<HTMLInputElement>('[name=period]')]
  const choices = section.querySelectorAll('fieldset')
  const first = find('#start', HTMLInputElement)
  const last = find('#end', HTMLInputElement)
  let view: View | undefined
  for (const radio of periods) {
    radio.addEventListener('change', () => change({ period: radio.value, start: '', end: '' }))
  }
  for (const field of [first, last]) {
    field.addEventListener('change', () => {
      // A year is incomplete while it is typed.
      if (!view || !field.value || !field.validity.valid) return
      const end = field === last ? last.value : view.end
      const days = [first.value || FIRST_DAY, end]
      const [start = '', until = ''] = end === '' ? days : days.toSorted()
      change({ start, end: until })
    })
  }
  return {
    show(next: View): void {
      view = next
      const { period, start, end } = next
      for (const radio of periods) radio.checked = !start && !end && radio.value === period
      first.max = new Date().toISOString().slice(0, 10)
      last.max = first.max
      if (start) first.value = start
      if (end) last.value = end
    },
    /** Shows the first and last day of a history, where the user has set none. */
    showDays({ points }: RateHistory): void {
      if (!view?.start) first.value = points[0]?.d ?? ''
      if (!view?.end) last.value = points.at(-1)?.d ?? ''
    },
    enable(isEnabled: boolean): void {
      for (const choice of choices) choice.disabled = !isEnabled
    },
  }
}
