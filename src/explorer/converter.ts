import type { Conversion } from '../records/conversion.ts'
import { ageInWords } from './ages.ts'
import { createCurrencySelect } from './currency-select.ts'
import { find, make } from './elements.ts'
import { createPanel } from './panel.ts'
import type { Part } from './part.ts'
import type { View } from './view.ts'

/** How long to wait for more to be typed, in ms. */
const TYPING_DELAY_MS = 150

/** The part that converts an amount as it is typed. */
export function createConverter(base: string, change: (to: Partial<View>) => void): Part {
  const section = find('#converter', HTMLElement)
  const amount = find('#amount', HTMLInputElement)
  const from = createCurrencySelect('#from', (code) => change({ from: code }))
  const to = createCurrencySelect('#to', (code) => change({ to: code }))
  let view: View | undefined
  let shown: Conversion | undefined
  const panel = createPanel<'convert'>(section, base, {
    show(record) {
      shown = record
      showResult(record)
      tick(Date.now())
    },
    failed(failure) {
      amount.ariaInvalid = String(failure?.code === 'invalid_amount')
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
    show(now, choices) {
      const isTyped = view !== undefined && view.amount !== now.amount
      view = now
      if (amount.value !== now.amount) amount.value = now.amount
      from.show(choices, now.from)
      to.show(choices, now.to)
      const parameters = { from: now.from, to: now.to, amount: now.amount }
      panel.ask({ operation: 'convert', parameters }, isTyped ? TYPING_DELAY_MS : 0)
    },
  }
}

function showResult({ from, to, amount, rate, result }: Conversion): void {
  find('#given', HTMLElement).textContent = `${amount} ${from} =`
  find('#result', HTMLElement).replaceChildren(String(result), ' ', make('span', to))
  find('#rate', HTMLElement).textContent = `1 ${from} = ${rate} ${to}`
}
