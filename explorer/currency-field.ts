import type { Api } from './page-api.ts'
import type { createCombobox } from './combobox.ts'
import { labelOf, makeSign, signOf } from './currency-label.ts'
import { find } from './dom.ts'
import type { Choices } from './dom.ts'

type Combobox = ReturnType<typeof createCombobox>

const COMBOBOX: Partial<HTMLInputElement> = {
  role: 'combobox',
  ariaExpanded: 'false',
  ariaAutoComplete: 'list',
  autocomplete: 'off',
  spellcheck: false,
}

/** Makes the `input` at `selector` a combobox of currencies, whose list is loaded when the field first has the focus. */
export function createCurrencyField(
  selector: string,
  api: Pick<Api, 'loadMore'>,
  choose: (code: string) => void,
) {
  const input = find(selector, HTMLInputElement)
  Object.assign(input, COMBOBOX)
  input.setAttribute('aria-controls', `${input.id}-list`)
  const sign = makeSign()
  input.after(sign)
  let shown: { choices: Choices; code: string } | undefined
  let combobox: Combobox | undefined
  let isLoading = false
  /** Whether the list was to open before it was loaded. */
  let isWanted = false

  function rest(): void {
    if (!shown) return
    input.value = labelOf(shown.code, shown.choices)
    sign.textContent = signOf(shown.code)
  }
  async function load(): Promise<void> {
    isLoading = true
    try {
      const { createCombobox } = await api.loadMore()
      combobox ??= createCombobox(input, { rest, choose })
      if (shown) combobox.offer(shown.choices, shown.code)
      if (isWanted) combobox.open()
    } catch {
      // Codes can still be typed.
      isLoading = false
      if (document.activeElement !== input) rest()
    }
  }
  input.addEventListener('focus', () => {
    input.select()
    if (!isLoading) void load()
  })
  noteOpening(input, (isOpening) => (isWanted = isOpening))
  input.addEventListener('change', () => {
    if (combobox) return
    const code = input.value.trim().toUpperCase()
    if (shown?.choices.codes.includes(code)) choose(code)
    else if (!isLoading) rest()
  })
  return {
    /** Offers `choices` and shows `code`, which may be an unknown one: then the error of the API appears. */
    show(choices: Choices, code: string): void {
      shown = { choices, code }
      if (combobox) combobox.offer(choices, code)
      else if (document.activeElement !== input) rest()
    },
  }
}

/** Calls `note` with true for each click and key that opens a list, and false where other keys follow. */
function noteOpening(input: HTMLInputElement, note: (isOpening: boolean) => void): void {
  input.addEventListener('click', () => note(true))
  input.addEventListener('keydown', ({ key }) => note(key === 'ArrowDown'))
  input.addEventListener('blur', () => note(false))
}
