import { find, make } from './elements.ts'

/** The currencies that can be chosen. */
export interface Choices {
  codes: readonly string[]
  /** English names by code; some codes have none. */
  names: ReadonlyMap<string, string>
}

/** A list to choose a currency from. */
export interface CurrencySelect {
  /** Offers `choices`, with `code` chosen even if it is none of them: the API says what is wrong with it. */
  show(choices: Choices, code: string): void
}

/** The list that `selector` names; `choose` is told what is chosen. */
export function createCurrencySelect(
  selector: string,
  choose: (code: string) => void,
): CurrencySelect {
  const select = find(selector, HTMLSelectElement)
  select.addEventListener('change', () => choose(select.value))
  let offered: Choices | undefined
  return {
    show(choices, code) {
      const isKnown = [...select.options].some(({ value }) => value === code)
      // A list that is made anew closes if it is open.
      if (choices !== offered || !isKnown) select.replaceChildren(...optionsOf(choices, code))
      offered = choices
      select.value = code
    },
  }
}

function optionsOf({ codes, names }: Choices, chosen: string): HTMLOptionElement[] {
  const offered = codes.includes(chosen) ? codes : [chosen, ...codes]
  return offered.map((code) => {
    const name = names.get(code)
    const option = make('option', name === undefined ? code : `${code} – ${name}`)
    option.value = code
    return option
  })
}
