import type { LatestRates } from 'ratesmith/client'

import { createCurrencySelect, find, make, publicationInWords } from './dom.ts'
import type { Choices, Part, View } from './dom.ts'
import type { Api } from './api.ts'
import { createPanel } from './panel.ts'

/** Callbacks of the table of rates. */
export interface TableEvents {
  change(to: Partial<View>): void
  /** Called for each loaded table. */
  listed(table: LatestRates): void
}

/** Creates the section with the latest rates against one base. */
export function createRateTable(api: Api, { change, listed }: TableEvents): Part {
  const section = find('#table', HTMLElement)
  const select = createCurrencySelect('#base', (code) => change({ base: code }))
  const search = find('#search', HTMLInputElement)
  const rows = createRows((code) => {
    if (shown) change({ from: shown.base, to: code })
    find('#converter', HTMLElement).scrollIntoView({ block: 'nearest' })
  })
  let shown: LatestRates | undefined
  let names: Choices['names'] = new Map()
  const panel = createPanel(section, api, {
    operation: 'latest',
    show(table) {
      shown = table
      showRows(table)
      showAge(table, Date.now())
      listed(table)
    },
  })

  function showRows({ base, rates }: LatestRates): void {
    find('#unit', HTMLElement).textContent = `1 ${base} =`
    rows.show(rates, names)
    rows.filter(search.value)
  }

  search.addEventListener('input', () => rows.filter(search.value))

  return {
    ...panel,
    show(view, choices) {
      select.show(choices, view.base)
      if (choices.names !== names) {
        names = choices.names
        if (shown) showRows(shown)
      }
      panel.load({ base: view.base })
    },
    tick(now) {
      if (!shown) return
      showAge(shown, now)
      if (now > shown.nextUpdateAt && !document.hidden) panel.reload()
    },
  }
}

function showAge(table: LatestRates, now: number): void {
  const age = find('#table .age', HTMLElement)
  age.textContent = publicationInWords(table, now)
  age.classList.toggle('overdue', now > table.nextUpdateAt)
}

/** The rows of the table of rates. */
interface Rows {
  /** Shows one row per rate. */
  show(rates: Record<string, number>, names: ReadonlyMap<string, string>): void
  /** Hides rows without `text` in code or name. */
  filter(text: string): void
}

/** Creates the rows; calls `choose` with each chosen code. Tab stops at one row, and the arrow keys move from there. */
function createRows(choose: (code: string) => void): Rows {
  const body = find('#rows', HTMLTableSectionElement)
  const count = find('#count', HTMLElement)
  body.addEventListener('click', ({ target }) => {
    const button = target instanceof Element && target.closest('tr')?.querySelector('button')
    if (button) choose(button.textContent)
  })
  body.addEventListener('keydown', (event) => {
    const buttons = visibleButtons(body)
    const next = buttons[nextIndex(event.key, buttons.findIndex(isFocused), buttons.length)]
    if (!next) return
    event.preventDefault()
    onlyStop(body, next)
    next.focus()
  })
  return {
    show(rates, names) {
      const entries = Object.entries(rates)
      const decimals = Math.max(...entries.map(([, rate]) => decimalsOf(rate)))
      body.replaceChildren(
        ...entries.map(([code, rate]) => rowOf(code, names.get(code) ?? '', rate, decimals)),
      )
    },
    filter(text) {
      const wanted = text.trim().toLowerCase()
      for (const row of body.rows) {
        row.hidden = !row.dataset['text']?.includes(wanted)
      }
      const visible = visibleButtons(body)
      if (visible[0]) onlyStop(body, visible[0])
      count.textContent =
        visible.length === 0
          ? `No currency matches “${text.trim()}”`
          : `${visible.length} of ${body.rows.length} currencies`
    },
  }
}

function rowOf(code: string, name: string, rate: number, decimals: number): HTMLElement {
  const button = make('button', code)
  button.type = 'button'
  const head = make('th', button)
  head.scope = 'row'
  const cell = make('td', String(rate))
  // Aligns decimal points without changing the digits.
  cell.style.setProperty('--missing', String(decimals - decimalsOf(rate)))
  const row = make('tr', head, make('td', name), cell)
  row.dataset['text'] = `${code} ${name}`.toLowerCase()
  return row
}

function decimalsOf(rate: number): number {
  return /\..*/.exec(String(rate))?.[0].length ?? 0
}

function visibleButtons(body: HTMLElement): HTMLButtonElement[] {
  return [...body.querySelectorAll<HTMLButtonElement>('tr:not([hidden]) button')]
}

function isFocused(element: Element): boolean {
  return element === document.activeElement
}

function onlyStop(body: HTMLElement, stop: HTMLButtonElement): void {
  for (const button of body.querySelectorAll('button')) button.tabIndex = button === stop ? 0 : -1
}

function nextIndex(key: string, index: number, length: number): number {
  if (key === 'ArrowDown') return Math.min(index + 1, length - 1)
  if (key === 'ArrowUp') return Math.max(index - 1, 0)
  if (key === 'Home') return 0
  return key === 'End' ? length - 1 : -1
}
