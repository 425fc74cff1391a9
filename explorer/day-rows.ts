import type { History } from './api.ts'
import { make } from './dom.ts'

/** Returns the heads and the rows of the table of days, the newest first. */
export function rowsOfDays(histories: readonly History[]): {
  heads: HTMLElement[]
  rows: HTMLElement[]
} {
  const columns = histories.map(({ points }) => new Map(points.map(({ d, r }) => [d, r])))
  const days = [...new Set(columns.flatMap((rates) => [...rates.keys()]))].toSorted()
  const units = histories.map(({ from, to }) => heading('col', `1 ${from} in ${to}`))
  return {
    heads: [heading('col', 'Day'), ...units],
    rows: days.toReversed().map((day) => {
      const cells = columns.map((rates) => make('td', String(rates.get(day) ?? '–')))
      return make('tr', heading('row', day), ...cells)
    }),
  }
}

function heading(scope: string, text: string): HTMLElement {
  const cell = make('th', text)
  cell.scope = scope
  return cell
}
