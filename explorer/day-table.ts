import type { History } from './api.ts'
import { find } from './dom.ts'
import type { PageApi } from './page-api.ts'

/** The table of the rates in the chart. */
export interface DayTable {
  /** Shows at least one history; the first has the days. */
  show(histories: readonly History[]): void
}

/** Creates the table. Rows are created when it opens, as there may be more than a thousand. */
export function createDayTable({ loadMore }: Pick<PageApi, 'loadMore'>): DayTable {
  const details = find('#days', HTMLDetailsElement)
  const [head, body] = [find('thead tr', HTMLElement, details), find('tbody', HTMLElement, details)]
  let shown: readonly History[] = []
  async function fill(): Promise<void> {
    if (!details.open) return
    const { rowsOfDays } = await loadMore()
    const { heads, rows } = rowsOfDays(shown)
    head.replaceChildren(...heads)
    body.replaceChildren(...rows)
  }
  function update(): void {
    fill().catch(({ message }) => head.replaceChildren(`The rates cannot be shown: ${message}`))
  }
  details.addEventListener('toggle', update)
  return {
    show(histories) {
      shown = histories
      const [first] = histories
      const kind = first?.interval === 'week' ? 'weekly' : 'daily'
      find('summary', HTMLElement, details).textContent =
        `Show ${first?.points.length} ${kind} rates`
      update()
    },
  }
}
