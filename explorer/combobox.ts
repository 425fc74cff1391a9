import { MAJOR_CURRENCIES, createCurrencySearch } from '../src/currency-search.ts'
import type { CurrencySearch } from '../src/currency-search.ts'
import { makeSign } from './currency-label.ts'
import { make } from './dom.ts'
import { NO_CHOICES } from './view.ts'
import type { Choices } from './view.ts'

const PAGE_LENGTH = 8

interface ComboboxEvents {
  /** Shows the current currency in the field again. */
  rest(): void
  choose(code: string): void
  labelOf(code: string, choices: Choices): string
  /** Returns the codes with a star, which are first in the list. */
  favourites(): readonly string[]
}

const searches = new WeakMap<Choices, CurrencySearch>()

/** Returns the search among `choices`, whose index takes some time. */
export function searchAmong(choices: Choices): CurrencySearch {
  const { codes, currencies } = choices
  const search =
    searches.get(choices) ??
    createCurrencySearch(codes.map((code) => currencies.get(code) ?? { code }))
  searches.set(choices, search)
  return search
}

/** Creates the list of `input`, in which text may have been typed before (WAI-ARIA: editable combobox with a list box). */
// oxlint-disable-next-line max-lines-per-function -- one state machine over its closures.
export function createCombobox(
  input: HTMLInputElement,
  { rest, choose, labelOf, favourites }: ComboboxEvents,
) {
  const { popup, list, status } = createPopup(input)
  let choices = NO_CHOICES
  let current: string | undefined
  /** The codes in the open list, and the place of the highlighted one. */
  let listed: string[] = []
  let active = -1
  let isTyped = false

  function close(): void {
    isTyped = false
    popup.hidden = true
    input.ariaExpanded = 'false'
    highlight(-1)
    rest()
  }
  function highlight(index: number): void {
    active = index
    for (const [at, option] of [...list.children].entries()) {
      option.ariaSelected = String(at === index)
      if (at === index) option.scrollIntoView({ block: 'nearest' })
    }
    const option = list.children[index]
    if (option) input.setAttribute('aria-activedescendant', option.id)
    else input.removeAttribute('aria-activedescendant')
  }
  function open(): void {
    const text = isTyped ? input.value.trim() : ''
    listed =
      text === '' ? inUsualOrder(choices.codes, favourites()) : searchAmong(choices).find(text)
    list.replaceChildren(...listed.map((code) => optionOf(input.id, code, choices)))
    popup.hidden = false
    input.ariaExpanded = 'true'
    const count = listed.length
    status.textContent =
      count === 0
        ? `No currency matches “${text}”`
        : `${count} ${count === 1 ? 'currency' : 'currencies'}`
    // A search highlights its best match, and a list its current choice.
    highlight(text === '' ? listed.indexOf(current ?? '') : Math.min(0, count - 1))
  }
  function take(code: string | undefined): void {
    const isNew = code !== undefined && code !== current
    close()
    if (isNew) choose(code)
  }
  function press(event: KeyboardEvent): void {
    const isOpen = !popup.hidden
    const next = isOpen ? nextIndex(event.key, active, listed.length) : undefined
    if (next !== undefined) highlight(next)
    else if (isOpen && (event.key === 'Enter' || event.key === 'Escape')) {
      take(event.key === 'Enter' ? listed[active] : undefined)
      input.select()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') open()
    else {
      // The focus moves on.
      if (event.key === 'Tab' && isTyped && input.value.trim() !== '') take(listed[active])
      return
    }
    event.preventDefault()
  }

  function type(): void {
    isTyped = true
    // The sign of the last choice would contradict the text.
    input.nextElementSibling?.replaceChildren()
    open()
  }

  input.addEventListener('keydown', press)
  input.addEventListener('input', type)
  input.addEventListener('click', () => {
    if (popup.hidden) open()
  })
  input.addEventListener('blur', () => {
    // A text that names one currency is a choice; after another, the last choice returns.
    if (!popup.hidden) take(isTyped ? searchAmong(choices).exact(input.value) : undefined)
  })
  // Keeps the focus in the field.
  popup.addEventListener('mousedown', (event) => event.preventDefault())
  list.addEventListener('click', ({ target }) => {
    const option = target instanceof Element && target.closest('li')
    if (option) take(listed[[...list.children].indexOf(option)])
  })
  return {
    open(): void {
      if (popup.hidden) open()
    },
    /** Offers `choices`, of which `code` is the current one. */
    offer(next: Choices, code: string): void {
      const isFirst = current === undefined
      const isChanged = next !== choices || code !== current
      choices = next
      current = code
      const isEdited = isFirst && input.value !== labelOf(code, next)
      if (isEdited && document.activeElement === input) type()
      else if (isEdited) take(searchAmong(next).exact(input.value))
      else if (popup.hidden) rest()
      else if (isChanged) open()
    },
  }
}

function createPopup(input: HTMLInputElement) {
  const list = make('ul', { role: 'listbox', id: `${input.id}-list`, ariaLabel: 'Currencies' })
  const status = make('p', { role: 'status' })
  const popup = make('div', { className: 'popup', hidden: true }, list, status)
  input.parentElement?.append(popup)
  return { popup, list, status }
}

function optionOf(field: string, code: string, { currencies }: Choices): HTMLElement {
  const content = [makeSign(code), make('b', {}, code), ` ${currencies.get(code)?.name ?? ''}`]
  return make('li', { role: 'option', id: `${field}-${code}` }, ...content)
}

function inUsualOrder(codes: readonly string[], favourites: readonly string[]): string[] {
  const first = [...favourites, ...MAJOR_CURRENCIES].filter((code) => codes.includes(code))
  return [...new Set([...first, ...codes])]
}

/** Returns the place to which a key moves from `index`; undefined for other keys. */
function nextIndex(key: string, index: number, length: number): number | undefined {
  const last = length - 1
  if (key === 'ArrowDown') return index < last ? index + 1 : 0
  if (key === 'ArrowUp') return index > 0 ? index - 1 : last
  if (key === 'Home') return 0
  if (key === 'End') return last
  if (key === 'PageDown') return Math.min(index + PAGE_LENGTH, last)
  return key === 'PageUp' ? Math.max(index - PAGE_LENGTH, 0) : undefined
}
