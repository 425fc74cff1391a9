import type { Conversion } from 'ratesmith/client'

import { ageInWords, createCurrencySelect, find, make } from './dom.ts'
import type { Part, View } from './dom.ts'
import type { Api } from './api.ts'
import { createPanel } from './panel.ts'

const TYPING_DELAY_MS = 150

/** Creates the section that converts an amount as it is typed. */
export function createConverter(api: Api, change: (to: Partial<View>) => void): Part {
  const section = find('#converter', HTMLElement)
  const amount = find('#amount', HTMLInputElement)
  const from = createCurrencySelect('#from', (code) => change({ from: code }))
  const to = createCurrencySelect('#to', (code) => change({ to: code }))
  let view: View | undefined
  let shown: Conversion | undefined
  const panel = createPanel(section, api, {
    operation: 'convert',
    show(conversion) {
      shown = conversion
      showResult(conversion)
      tick(Date.now())
    },
    failed(error) {
      amount.ariaInvalid = String(error?.code === 'invalid_amount')
    },
  })

  function tick(now: number): void {
    if (shown) find('.age', HTMLElement, section).textContent = ageInWords(shown.updatedAt, now)
  }

  amount.addEventListener('input', () => change({ amount: amount.value }))
  find('#swap', HTMLButtonElement).addEventListener('click', () => {
    if (view) change({ from: view.to, to: view.from })
  })

  return {
    ...panel,
    tick,
    show(next, choices) {
      const isTyping = view !== undefined && view.amount !== next.amount
      view = next
      if (amount.value !== next.amount) amount.value = next.amount
      from.show(choices, next.from)
      to.show(choices, next.to)
      const parameters = { from: next.from, to: next.to, amount: next.amount }
      panel.load(parameters, isTyping ? TYPING_DELAY_MS : 0)
    },
  }
}

function showResult({ from, to, amount, rate, result }: Conversion): void {
  find('#given', HTMLElement).textContent = `${amount} ${from} =`
  find('#result', HTMLElement).replaceChildren(String(result), ' ', make('span', to))
  find('#rate', HTMLElement).textContent = `1 ${from} = ${rate} ${to}`
}
