import type { RateHistory } from 'ratesmith/client'

import { whyNoHistory } from './api.ts'
import { createCurrencyField } from './currency-field.ts'
import { find, make } from './dom.ts'
import { changeInWords, formatChange } from './figures.ts'
import type { Api } from './page-api.ts'
import { NO_CHOICES } from './view.ts'
import type { Choices, View } from './view.ts'

const MAX_COMPARED = 3

export function comparedIn({ from, to, compare }: View): string[] {
  const codes = new Set(compare.split(',').filter(Boolean))
  return [...codes].filter((code) => code !== from && code !== to).slice(0, MAX_COMPARED)
}

/** Creates the field that adds currencies to the chart, and the legend that removes them; both call `choose`. */
export function createComparison(api: Pick<Api, 'onMore'>, choose: (compare: string) => void) {
  const input = find('#compare', HTMLInputElement)
  const field = createCurrencyField('#compare', api, (code) => choose([...compared, code].join()))
  let compared: readonly string[] = []
  let offered = NO_CHOICES
  let offeredFor = ''

  function offer(view: View, choices: Choices): void {
    const shown = [view.from, view.to, ...compared]
    const key = `${shown.join()} ${choices.codes.length} ${choices.currencies.size}`
    if (key !== offeredFor) {
      offeredFor = key
      const others = choices.codes.filter((code) => !shown.includes(code))
      const codes = others.filter((code) => !whyNoHistory(choices, code, code))
      offered = { ...choices, codes }
    }
    input.disabled = compared.length === MAX_COMPARED
    input.placeholder = input.disabled ? `At most ${MAX_COMPARED}` : 'Compare with'
    field.show(offered, '')
  }
  function removeButton(code: string): HTMLElement {
    const button = make('button', { type: 'button', ariaLabel: `Remove ${code}` }, '×')
    button.addEventListener('click', () => {
      choose(compared.filter((each) => each !== code).join())
      input.focus()
    })
    return button
  }
  /** Offers the currencies with a history that are not in the chart yet, and shows the changes of those in it. */
  return (view: View, choices: Choices, histories: readonly RateHistory[]): void => {
    compared = comparedIn(view)
    offer(view, choices)
    let series = 0
    const entries = [view.to, ...compared].map((code) => {
      const isMissing = whyNoHistory(choices, view.from, code) !== undefined
      const history = histories.find(({ from, to }) => to === code && from === view.from)
      const { changePct } = history?.stats ?? { changePct: 0 }
      const value = history ? formatChange(changePct) : ''
      const { className } = changeInWords(changePct)
      const text = make('span', { className }, isMissing ? '(no daily history)' : value)
      const entry = make('span', {}, code, text)
      if (!isMissing) entry.className = `s${(series += 1) - 1}`
      if (code !== view.to) entry.append(removeButton(code))
      return entry
    })
    find('#legend').replaceChildren(...(compared.length > 0 ? entries : []))
  }
}
