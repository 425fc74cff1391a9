import type { TypedAmount, readAmount } from './amount.ts'
import type { Api } from './page-api.ts'
import { find } from './dom.ts'
import type { Choices, View } from './dom.ts'
import { readTypedAmount } from '../src/typed-amount.ts'

/** The separator of decimals in the browser's locale. `navigator.language` may be a name that `Intl` refuses, such as `C`. */
const DECIMAL = (1.5).toLocaleString()[1] === ',' ? ',' : '.'

const PLAIN = /^(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

/**
 * Creates the field for the amount, which reads amounts as people type them after it first had the focus. Views have the amount
 * in the form of the API where it is one.
 */
// oxlint-disable-next-line max-lines-per-function -- one state over its closures.
export function createAmountField(
  { loadMore }: Pick<Api, 'loadMore'>,
  change: (to: Partial<View>) => void,
) {
  const input = find('#amount', HTMLInputElement)
  const hint = find('#amount-hint')
  let read: typeof readAmount = readPlain
  let codes: string[] = []
  let given: string | undefined
  let hasCurrency = false
  let isTyped = false

  async function load(): Promise<void> {
    if (read !== readPlain) return
    try {
      read = (await loadMore()).readAmount
      if (isTyped || !PLAIN.test(input.value)) take()
    } catch {
      // Amounts in the form of the API can still be typed.
    }
  }
  function take(): void {
    const { amount = input.value, code } = read(input.value, codes, DECIMAL)
    given = amount
    hasCurrency = code !== undefined
    isTyped = true
    change({ amount, ...(code !== undefined && { from: code }) })
  }

  input.addEventListener('focus', () => void load())
  input.addEventListener('input', take)
  return {
    /** Shows the amount of a view, and returns whether it is one. A text that is not one gets an error message. */
    show({ amount, from }: View, choices: Choices): boolean {
      codes = [from, ...choices.codes]
      if (amount !== given) {
        given = amount
        isTyped = false
        input.value = PLAIN.test(amount) ? amount.replace('.', DECIMAL) : amount
      }
      const isPlain = PLAIN.test(amount)
      if (!isPlain && amount !== '') void load()
      const digits = choices.currencies.get(from)?.minorUnits
      const typed = amount.replace('.', DECIMAL)
      const unclear = readTypedAmount(typed, { decimal: DECIMAL, digits }).problem
      const unknown = isPlain ? unclear : 'Use digits and a point: 1000.50'
      const wrong = amount === '' ? undefined : unknown
      hint.textContent = wrong ?? ''
      input.ariaInvalid = String(wrong !== undefined)
      return isPlain && wrong === undefined
    },
    refuse(isRefused: boolean): void {
      if (hint.textContent === '') input.ariaInvalid = String(isRefused)
    },
    /** Leaves the amount without the currency that was typed with it. */
    forgetCurrency(): void {
      if (hasCurrency) given = undefined
    },
  }
}

function readPlain(text: string): TypedAmount {
  const trimmed = text.trim()
  return { amount: trimmed === '' || PLAIN.test(trimmed) ? trimmed : undefined }
}
