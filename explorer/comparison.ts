import type { RateHistory } from 'ratesmith/client'

import { whyNoHistory } from './api.ts'
import { createCurrencyField } from './currency-field.ts'
import { find, make } from './dom.ts'
import { changeInWords, formatChange } from './figures.ts'
import type { Api } from './page-api.ts'
import type { Choices, View } from './view.ts'

const MAX_COMPARED = 3

export function comparedIn({ from, to, compare }: View): string[] {
  const codes = new Set(compare.split(',').filter(Boolean))
  return [...codes].filter((code) => code !== from && code !== to).slice(0, MAX_COMPARED)
}

/** Creates the field that adds currencies to the chart, and the legend that removes them; both call `choose`. */
export function createComparison(api: Pick<Api, 'onMore'>, choose: (compare: string) => void) {
  const input = find('#compare', HTMLInputElement)
  const field = createCurrencyField('#compare', api, (code) => {
    if (view) choose([...comparedIn(view), code].join())
  })
  let view: View | undefined
  let offered: Choices | undefined
  let offeredFor = ''

  function removeButton(code: string, codes: readonly string[]): HTMLElement {
    const button = make('button', { type: 'button', ariaLabel: `Remove ${code}` }, '×')
    button.addEventListener('click', () => {
      choose(codes.filter((each) => each !== code).join())
      input.focus()
    })
    return button
  }
  return {
    /** Offers the currencies with a history of those in `choices` that are not in the chart yet. */
    show(next: View, choices: Choices): void {
      view = next
      const shown = [next.from, next.to, ...comparedIn(next)]
      const { codes } = choices
      const key = `${shown.join()} ${codes.length} ${choices.currencies.size}`
      if (key !== offeredFor || !offered) {
        offeredFor = key
        const others = codes.filter(
          (code) => !shown.includes(code) && !whyNoHistory(choices, code, code),
        )
        offered = { ...choices, codes: others }
      }
      input.disabled = shown.length > MAX_COMPARED + 1
      input.placeholder = input.disabled ? `At most ${MAX_COMPARED}` : 'Compare with'
      field.show(offered, '')
    },
    /** Shows the legend, with the changes of the histories that are in the chart. */
    showLegend(choices: Choices, histories: readonly RateHistory[]): void {
      if (!view) return
      const { from, to } = view
      const codes = comparedIn(view)
      let series = 0
      const entries = [to, ...codes].map((code) => {
        const isMissing = whyNoHistory(choices, from, code) !== undefined
        const stats = histories.find((each) => each.to === code && each.from === from)?.stats
        const { className } = changeInWords(stats?.changePct ?? 0)
        const change = stats ? formatChange(stats.changePct) : ''
        const value = isMissing ? '(no daily history)' : change
        const entry = make('span', {}, code, make('span', { className }, value))
        if (!isMissing) entry.className = `s${(series += 1) - 1}`
        if (code !== to) entry.append(removeButton(code, codes))
        return entry
      })
      find('#legend').replaceChildren(...(codes.length > 0 ? entries : []))
    },
  }
}
