import type { Api } from './page-api.ts'
import type { createCombobox } from './combobox.ts'
import { makeSign, signOf } from './currency-label.ts'
import { find } from './dom.ts'
import { favourites } from './memory.ts'
import type { Choices } from './view.ts'

const COMBOBOX: Partial<HTMLInputElement> = {
  role: 'combobox',
  ariaExpanded: 'false',
  ariaAutoComplete: 'list',
  autocomplete: 'off',
  spellcheck: false,
}

/** Makes the `input` at `selector` a combobox of currencies, which shows `labelOf` its currency at rest. */
export function createCurrencyField(
  selector: string,
  api: Pick<Api, 'onMore'>,
  choose: (code: string) => void,
  labelOf: (code: string, choices: Choices) => string = (code) => code,
) {
  const input = find(selector, HTMLInputElement)
  Object.assign(input, COMBOBOX)
  input.setAttribute('aria-controls', `${input.id}-list`)
  const sign = makeSign()
  input.after(sign)
  let shown: { choices: Choices; code: string } | undefined
  let combobox: ReturnType<typeof createCombobox> | undefined

  function rest(): void {
    if (!shown) return
    input.value = labelOf(shown.code, shown.choices)
    sign.textContent = signOf(shown.code)
  }
  /** Whether the list was to open before it was loaded. */
  let isWanted = false
  input.addEventListener('focus', () => input.select())
  input.addEventListener('click', () => (isWanted = true))
  input.addEventListener('keydown', ({ key }) => (isWanted = key === 'ArrowDown'))
  api.onMore((more) => {
    combobox = more.createCombobox(input, { rest, choose, labelOf, favourites: favourites.read })
    if (shown) combobox.offer(shown.choices, shown.code)
    if (isWanted && document.activeElement === input) combobox.open()
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
