import type { Conversion } from 'ratesmith/client'

import { createAmountField } from './amount-field.ts'
import type { Api } from './page-api.ts'
import { createCurrencyField } from './currency-field.ts'
import { ageInWords, find, make } from './dom.ts'
import type { Choices, Part, View } from './dom.ts'
import { amountInWords, formatAmount } from './figures.ts'
import { createPanel } from './panel.ts'

const TYPING_DELAY_MS = 150

// oxlint-disable-next-line max-lines-per-function -- the wiring of the section.
export function createConverter(api: Api, change: (to: Partial<View>) => void): Part {
  const section = find('#converter')
  const amount = createAmountField(api, change)
  let view: View | undefined
  let currencies: Choices['currencies'] | undefined
  let shown: Conversion | undefined
  const from = createCurrencyField('#from', api, (code) => choose('from', code))
  const to = createCurrencyField('#to', api, (code) => choose('to', code))
  const panel = createPanel(section, api, {
    operation: 'convert',
    show(conversion) {
      shown = conversion
      showResult(conversion, currencies)
      tick(Date.now())
    },
    failed: (error) => amount.refuse(error?.code === 'invalid_amount'),
  })

  /** Takes a chosen currency; where it is that of the other side, both change places. */
  function choose(side: 'from' | 'to', code: string): void {
    if (!view) return
    const other = side === 'from' ? 'to' : 'from'
    if (side === 'from') amount.forgetCurrency()
    change({ [side]: code, ...(code === view[other] && { [other]: view[side] }) })
  }
  function tick(now: number): void {
    if (shown) find('.age', HTMLElement, section).textContent = ageInWords(shown.updatedAt, now)
  }

  find('#swap', HTMLButtonElement).addEventListener('click', () => {
    if (!view) return
    amount.forgetCurrency()
    change({ from: view.to, to: view.from })
  })
  createCopyButton(api)

  return {
    ...panel,
    tick,
    show(next, choices) {
      const isTyping = view !== undefined && view.amount !== next.amount
      view = next
      from.show(choices, next.from)
      to.show(choices, next.to)
      if (choices.currencies !== currencies) {
        currencies = choices.currencies
        if (shown) showResult(shown, currencies)
      }
      if (!amount.show(next, choices)) return panel.clear()
      const parameters = { from: next.from, to: next.to, amount: next.amount }
      panel.load(parameters, isTyping ? TYPING_DELAY_MS : 0)
    },
  }
}

function showResult(
  { from, to, amount, rate, result }: Conversion,
  currencies: Choices['currencies'] | undefined,
): void {
  const rounded = formatAmount(result, currencies?.get(to)?.minorUnits ?? undefined)
  const output = find('#result')
  output.replaceChildren(rounded, ' ', make('span', {}, to))
  output.classList.toggle('long', rounded.length > 15)
  find('#given').textContent = `${amountInWords(amount, from)} =`
  find('#rate').textContent = `1 ${from} = ${rate} ${to}`
  find('#exact').textContent = String(result)
  find('#copy-exact').ariaLabel = `Copy ${result}`
  find('#exact-state').textContent = ''
}

function createCopyButton({ loadMore }: Pick<Api, 'loadMore'>): void {
  const exact = find('#exact')
  const state = find('#exact-state')
  async function copy(): Promise<void> {
    const { copyText } = await loadMore()
    await copyText(exact, state)
  }
  find('#copy-exact', HTMLButtonElement).addEventListener('click', () => {
    copy().catch(({ message }) => (state.textContent = `Not copied: ${message}`))
  })
}
