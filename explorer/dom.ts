import type { Choices } from './view.ts'

/**
 * Returns the first element in `root` that matches `selector`.
 *
 * @throws {Error} without an element of that type
 */
export function find<T extends Element>(
  selector: string,
  type: new () => T,
  root: ParentNode = document,
): T {
  const element = root.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`)
  return element
}

/** Creates an element with `content`. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  element.append(...content)
  return element
}

/** Returns a copy of the content of the template `id`. */
export function copyOf(id: string): Node {
  return find(`#${id}`, HTMLTemplateElement).content.cloneNode(true)
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
