import type { RateHistory } from 'ratesmith/client'

import type { ApiRequest } from './api.ts'
import { createDayField } from './day-field.ts'
import { find } from './dom.ts'
import { DAY_MS, FIRST_DAY, today } from './times.ts'
import type { View } from './view.ts'

/** Longer responses have a rate per week: some 70 kB with compression. */
const MAX_POINTS = 9_000

export function parametersOf(view: View, compared: readonly string[]): ApiRequest['parameters'] {
  const { from, to, period, start, end } = view
  const pair = { from, to: [to, ...compared].join() }
  const isLong = period === 'MAX' || period === '10Y'
  if (!start && !end && !isLong) return { ...pair, period }
  const decade = `${Number(today().slice(0, 4)) - 10}${today().slice(4).replace('02-29', '02-28')}`
  const since = start || (period === '10Y' && !end ? decade : FIRST_DAY)
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
  let view: View | undefined
  /** The first and last day of the history. */
  let days = ['', '']
  for (const radio of periods) {
    radio.addEventListener('change', () => change({ period: radio.value, start: '', end: '' }))
  }
  const chooseFirst = (start: string): void => choose(start, view?.end)
  const chooseLast = (end: string): void => choose(view?.start || days[0] || FIRST_DAY, end)
  const first = createDayField(find('#start', HTMLInputElement), chooseFirst, 'first day')
  const last = createDayField(find('#end', HTMLInputElement), chooseLast, 'last day')
  function choose(start: string, end = ''): void {
    const [since = '', until = ''] = end === '' ? [start, end] : [start, end].toSorted()
    change({ start: since, end: until })
  }
  function showDays(): void {
    first.show(view?.start || days[0] || '')
    last.show(view?.end || days[1] || '')
  }
  return {
    show(next: View): void {
      view = next
      const { period, start, end } = next
      for (const radio of periods) radio.checked = !start && !end && radio.value === period
      showDays()
    },
    /** Shows the first and last day of a history, where the user has set none. */
    showDays({ points }: RateHistory): void {
      days = [points[0]?.d ?? '', points.at(-1)?.d ?? '']
      showDays()
    },
    enable(isEnabled: boolean): void {
      for (const choice of choices) choice.disabled = !isEnabled
    },
  }
}
