import type { RateHistory } from 'ratesmith/client'

import { find, make } from './elements.ts'

/** Creates the table of daily rates. Rows are created when it opens, as there may be more than a thousand. */
export function createDayTable(): { show(history: RateHistory): void } {
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
    show(history) {
      shown = history
      const { from, to, points } = history
      find('summary', HTMLElement, details).textContent = `Show ${points.length} daily rates`
      find('#day-unit', HTMLElement).textContent = `1 ${from} in ${to}`
      fill()
    },
  }
}
