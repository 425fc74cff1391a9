import { find, make } from './elements.ts'

/** Currencies to choose from. */
export interface Choices {
  codes: readonly string[]
  /** English names by code; some codes have none. */
  names: ReadonlyMap<string, string>
}

/** A drop-down list of currencies. */
export interface CurrencySelect {
  /** Offers `choices` and selects `code`. An unknown code is added, so that the error of the API appears. */
  show(choices: Choices, code: string): void
}

/** Creates the list in the `select` element at `selector`; calls `choose` with each chosen code. */
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
      // Replacing the options would close an open list.
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
