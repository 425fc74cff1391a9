import type { RateHistory } from 'ratesmith/client'
import { find, make } from './dom.ts'

/** Creates the table of the rates in the chart. Rows are created when it opens, as there may be more than a thousand. */
export function createDayTable() {
  const details = find('#days', HTMLDetailsElement)
  const [head, body] = [find('thead tr', HTMLElement, details), find('tbody', HTMLElement, details)]
  let shown: readonly RateHistory[] = []

  function fill(): void {
    if (!details.open) return
    const columns = shown.map(({ points }) => new Map(points.map(({ d, r }) => [d, r])))
    const days = [...new Set(columns.flatMap((rates) => [...rates.keys()]))].toSorted()
    const units = shown.map(({ from, to }) => make('th', { scope: 'col' }, `1 ${from} in ${to}`))
    const rows = days.toReversed().map((day) => {
      const cells = columns.map((rates) => make('td', {}, String(rates.get(day) ?? '–')))
      return make('tr', {}, make('th', { scope: 'row' }, day), ...cells)
    })
    head.replaceChildren(make('th', { scope: 'col' }, 'Day'), ...units)
    body.replaceChildren(...rows)
  }

  details.addEventListener('toggle', fill)
  return {
    /** Shows at least one history; the first has the days. */
    show(histories: readonly RateHistory[]): void {
      shown = histories
      const [first] = histories
      const kind = first?.interval === 'week' ? 'weekly' : 'daily'
      const summary = find('summary', HTMLElement, details)
      summary.textContent = `Show ${first?.points.length} ${kind} rates`
      fill()
    },
  }
}
