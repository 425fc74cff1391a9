import { find, make } from './dom.ts'
import { formatChange, formatRate } from './figures.ts'
import type { Row } from './order.ts'

/** Callbacks with the code of a clicked row, and of a clicked star. */
interface RowEvents {
  choose(code: string): void
  star(code: string): void
}

/** Creates the rows of the table of rates. Tab stops at one row, and the arrow keys move from there. */
export function createRows({ choose, star }: RowEvents) {
  const body = find('#rows', HTMLTableSectionElement)
  let marked = ''
  function mark(code: string): void {
    marked = code
    for (const row of body.rows) row.ariaCurrent = row.dataset['code'] === code ? 'true' : null
  }
  body.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element)) return
    const code = target.closest('tr')?.dataset['code']
    if (code === undefined) return
    if (!target.closest('.star')) return choose(code)
    const index = visibleButtons(body, '.star').findIndex((button) => button.contains(target))
    star(code)
    const stars = visibleButtons(body, '.star')
    // Narrow windows show only favourites.
    const own = stars.find(({ ariaLabel }) => ariaLabel === `Favourite ${code}`)
    const button = own ?? stars[index] ?? stars.at(-1)
    if (!button) return
    onlyStop(body, button)
    button.focus({ preventScroll: true })
  })
  body.addEventListener('keydown', (event) => {
    const next = nextButton(body, event.key)
    if (!next) return
    event.preventDefault()
    onlyStop(body, next)
    next.focus()
  })
  return {
    mark,
    show(rows: readonly Row[], favourites: readonly string[]): void {
      body.replaceChildren(...rows.map((row) => rowOf(row, favourites.includes(row.code))))
      mark(marked)
    },
    /** Hides the rows of codes that are not in `codes`. */
    filter(codes: ReadonlySet<string>): void {
      for (const row of body.rows) row.hidden = !codes.has(row.dataset['code'] ?? '')
      const [first] = visibleButtons(body, 'th button')
      if (first) onlyStop(body, first)
    },
    /** Moves the focus to a row. */
    focus(index: number): void {
      const button = visibleButtons(body, 'th button')[index]
      if (!button) return
      onlyStop(body, button)
      button.focus({ preventScroll: true })
    },
  }
}

function rowOf({ code, name, rate, change }: Row, isFavourite: boolean) {
  const ariaPressed = String(isFavourite)
  const value = rate === undefined ? {} : { title: String(rate) }
  const about = { className: 'star', ariaLabel: `Favourite ${code}`, ariaPressed }
  const star = make('button', about, isFavourite ? '★' : '☆')
  const head = [make('button', {}, code), ' ', make('span', {}, name)]
  const text = change === undefined ? '' : formatChange(change)
  const row = make(
    'tr',
    { className: isFavourite ? 'favourite' : '' },
    make('td', {}, star),
    make('th', { scope: 'row' }, ...head),
    make('td', { className: 'rate', ...value }, rate === undefined ? '' : formatRate(rate)),
    make('td', { className: { '+': 'up', '−': 'down' }[text.charAt(0)] ?? '' }, text),
  )
  row.dataset['code'] = code
  return row
}

function visibleButtons(body: HTMLElement, selector: string): HTMLButtonElement[] {
  const buttons = [...body.querySelectorAll<HTMLButtonElement>(selector)]
  return buttons.filter((button) => button.checkVisibility())
}

function onlyStop(body: HTMLElement, stop: HTMLButtonElement): void {
  for (const button of body.querySelectorAll('button')) button.tabIndex = button === stop ? 0 : -1
}

/** Returns the button to which a key moves the focus: between rows, or between a code and its star. */
function nextButton(body: HTMLElement, key: string): HTMLButtonElement | undefined {
  const focused = document.activeElement
  const isStar = focused?.matches('.star') ?? false
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const row = focused?.closest('tr')
    const selector = key === 'ArrowLeft' ? '.star' : 'th button'
    return row ? find(selector, HTMLButtonElement, row) : undefined
  }
  const buttons = visibleButtons(body, isStar ? '.star' : 'th button')
  const index = buttons.findIndex((button) => button === focused)
  const last = buttons.length - 1
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: last }[key]
  return next === undefined ? undefined : buttons[Math.max(0, Math.min(next, last))]
}
