import { inFieldForm } from './figures.ts'
import type { Api } from './page-api.ts'
import type { Choices } from './view.ts'

/** Amounts in the form of the API that have one meaning. */
const CLEAR = /^(\d+(\.(\d{0,2}|\d{4,}))?|\.\d+)(e[+-]?\d+)?$/i

/**
 * Makes `input` a field for an amount as people type it. `type` receives the amount in the form of the API, or the text where it
 * is not one, and the currency that was typed with it.
 */
// oxlint-disable-next-line max-lines-per-function -- one state over its closures.
export function createAmountField(
  input: HTMLInputElement,
  api: Pick<Api, 'onMore' | 'needMore'>,
  type: (amount: string, code: string | undefined) => void,
) {
  let more: typeof import('./more.ts') | undefined
  let codes: string[] = []
  let given: string | undefined
  let hasCurrency = false

  function take(): void {
    const { amount = input.value, code } = more?.readAmount(input.value, codes) ?? {}
    given = amount
    hasCurrency = code !== undefined
    type(amount, code)
  }
  /** What is typed next takes the place of the text, if it would have of the text before. */
  function write(text: string): void {
    const { selectionStart, selectionEnd, value } = input
    const isSelected = selectionStart === 0 && selectionEnd === value.length
    input.value = text
    if (isSelected && document.activeElement === input) input.select()
  }
  Object.assign(input, { inputMode: 'decimal', autocomplete: 'off', spellcheck: false })
  input.addEventListener('input', take)
  api.onMore((loaded) => {
    more = loaded
    if (given !== undefined && !CLEAR.test(given)) take()
  })
  return {
    /**
     * Shows an amount of the currency `code` that was given. Returns its problem; undefined for a clear amount and without one,
     * an empty text until the second script is there.
     */
    showGiven(amount: string, code: string, choices: Choices): string | undefined {
      codes = [code, ...choices.codes]
      if (amount !== given) {
        given = amount
        write(inFieldForm(amount))
      }
      input.className = input.value.length > 10 ? 'long' : ''
      input.ariaInvalid = 'false'
      if (amount.trim() === '' || CLEAR.test(amount)) return undefined
      api.needMore()
      const problem = more?.problemOf(amount, choices.currencies.get(code)?.minorUnits)
      input.ariaInvalid = String(problem !== undefined)
      return more ? problem : ''
    },
    /** Shows a result in the place of an amount. */
    showResult(text: string, code: string, choices: Choices): void {
      codes = [code, ...choices.codes]
      given = undefined
      write(text)
      input.className = `result ${text.length > 10 ? 'long' : ''}`
      input.ariaInvalid = 'false'
    },
    refuse(): void {
      input.ariaInvalid = 'true'
    },
    /** Leaves the amount without the currency that was typed with it. */
    forgetCurrency(): void {
      if (hasCurrency) given = undefined
    },
  }
}
