import type { RateHistory } from 'ratesmith/client'
import { find, make } from './dom.ts'
import { dayInWords } from './times.ts'

/** Creates the table of the rates in the chart. Rows are created when it opens, as there may be more than a thousand. */
export function createDayTable() {
  const details = find('#days', HTMLDetailsElement)
  const table = make('table', {})
  find('.rows', HTMLElement, details).append(table)
  let shown: readonly RateHistory[] = []

  function fill(): void {
    if (!details.open) return
    const columns = shown.map(({ points }) => new Map(points.map(({ d, r }) => [d, r])))
    const days = [...new Set(columns.flatMap((rates) => [...rates.keys()]))].toSorted()
    const units = shown.map(({ from, to }) => make('th', { scope: 'col' }, `1 ${from} in ${to}`))
    const rows = days.toReversed().map((day) => {
      const cells = columns.map((rates) => make('td', {}, String(rates.get(day) ?? '–')))
      return make('tr', {}, make('th', { scope: 'row' }, dayInWords(day)), ...cells)
    })
    const head = make('tr', {}, make('th', { scope: 'col' }, 'Day'), ...units)
    table.replaceChildren(make('thead', {}, head), make('tbody', {}, ...rows))
  }

  details.addEventListener('toggle', fill)
  return {
    show(histories: readonly RateHistory[]): void {
      shown = histories
      fill()
    },
  }
}
