import type { History } from './api.ts'
import { find, make } from './dom.ts'

/** The table of the rates in the chart. */
export interface DayTable {
  /** Shows at least one history; the first has the days. */
  show(histories: readonly History[]): void
}

/** Creates the table. Rows are created when it opens, as there may be more than a thousand. */
export function createDayTable(): DayTable {
  const details = find('#days', HTMLDetailsElement)
  const [head, body] = [find('thead tr', HTMLElement, details), find('tbody', HTMLElement, details)]
  let shown: readonly History[] = []
  function fill(): void {
    if (!details.open) return
    const columns = shown.map(({ points }) => new Map(points.map(({ d, r }) => [d, r])))
    const days = [...new Set(columns.flatMap((rates) => [...rates.keys()]))].toSorted()
    body.replaceChildren(
      ...days.toReversed().map((day) => {
        const cells = columns.map((rates) => make('td', String(rates.get(day) ?? '–')))
        return make('tr', heading('row', day), ...cells)
      }),
    )
  }
  details.addEventListener('toggle', fill)
  return {
    show(histories) {
      shown = histories
      const [first] = histories
      const kind = first?.interval === 'week' ? 'weekly' : 'daily'
      find('summary', HTMLElement, details).textContent =
        `Show ${first?.points.length} ${kind} rates`
      const units = histories.map(({ from, to }) => heading('col', `1 ${from} in ${to}`))
      head.replaceChildren(heading('col', 'Day'), ...units)
      fill()
    },
  }
}

function heading(scope: string, text: string): HTMLElement {
  const cell = make('th', text)
  cell.scope = scope
  return cell
}
