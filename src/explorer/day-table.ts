import type { RateHistory } from '../records/history.ts'
import { find, make } from './elements.ts'

/** The points of a history as a table, made when it is opened: it may have more than a thousand rows. */
export function createDayTable(): { show(record: RateHistory): void } {
  const details = find('#days', HTMLDetailsElement)
  const body = find('tbody', HTMLTableSectionElement, details)
  let shown: RateHistory | undefined
  function fill(): void {
    if (!shown || !details.open) return
    const { points } = shown
    body.replaceChildren(
      ...points.toReversed().map(({ d, r }) => {
        const head = make('th', d)
        head.scope = 'row'
        return make('tr', head, make('td', String(r)))
      }),
    )
  }
  details.addEventListener('toggle', fill)
  return {
    show(record) {
      shown = record
      const { from, to, points } = record
      find('summary', HTMLElement, details).textContent = `${points.length} days as a table`
      find('#day-unit', HTMLElement).textContent = `1 ${from} in ${to}`
      fill()
    },
  }
}
