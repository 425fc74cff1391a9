import { find, make } from './elements.ts'

/** The rows of the table of rates. */
export interface Rows {
  /** Shows one row per rate. */
  show(rates: Record<string, number>, names: ReadonlyMap<string, string>): void
  /** Hides rows without `text` in code or name. */
  filter(text: string): void
}

/** Creates the rows; calls `choose` with each chosen code. Tab stops at one row, and the arrow keys move from there. */
export function createRows(choose: (code: string) => void): Rows {
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
