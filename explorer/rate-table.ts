import type { LatestRates } from 'ratesmith/client'

import { publicationInWords } from './ages.ts'
import { createCurrencySelect } from './currency-select.ts'
import type { Choices } from './currency-select.ts'
import { find } from './elements.ts'
import { createPanel } from './panel.ts'
import type { Part } from './part.ts'
import { createRows } from './rows.ts'
import type { View } from './view.ts'

/** Callbacks of the table of rates. */
export interface TableEvents {
  change(to: Partial<View>): void
  /** Called for each loaded table. */
  listed(table: LatestRates): void
}

/** Creates the section with the latest rates against one base. */
export function createRateTable(base: string, { change, listed }: TableEvents): Part {
  const section = find('#table', HTMLElement)
  const select = createCurrencySelect('#base', (code) => change({ base: code }))
  const search = find('#search', HTMLInputElement)
  const rows = createRows((code) => {
    if (shown) change({ from: shown.base, to: code })
    find('#converter', HTMLElement).scrollIntoView({ block: 'nearest' })
  })
  let shown: LatestRates | undefined
  let names: Choices['names'] = new Map()
  const panel = createPanel<'latest'>(section, base, {
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
      panel.load({ operation: 'latest', parameters: { base: view.base } })
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
