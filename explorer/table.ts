import type { LatestRates } from 'ratesmith/client'

import { pathOf } from './api.ts'
import type { Api } from './page-api.ts'
import { createCurrencyField } from './currency-field.ts'
import { find, publicationInWords } from './dom.ts'
import type { Choices, Part, View } from './dom.ts'
import { createCodeMemory } from './memory.ts'
import { nextSort, parseSort, sortRows } from './order.ts'
import { createPanel } from './panel.ts'
import { createRows } from './rows.ts'

interface TableEvents {
  change(to: Partial<View>): void
  listed(table: LatestRates): void
}

// oxlint-disable-next-line max-lines-per-function -- the wiring of the section.
export function createRateTable(api: Api, { change, listed }: TableEvents): Part {
  const section = find('#table')
  const base = createCurrencyField('#base', api, (code) => change({ base: code }))
  const favourites = createCodeMemory('ratesmith-favourites', ['EUR', 'USD', 'GBP', 'JPY'])
  const search = find('#search', HTMLInputElement)
  const state = find('#chosen')
  const heads = createHeads((column) => change({ sort: nextSort(view?.sort ?? '', column) }))
  const rows = createRows({
    choose(code) {
      if (!view) return
      const from = code === view.from ? view.to : view.from
      change({ from, to: code })
      state.textContent = `Converts ${from} to ${code}`
    },
    star(code) {
      const starred = favourites.read()
      const others = starred.filter((each) => each !== code)
      favourites.write(others.length < starred.length ? others : [...starred, code])
      showRows()
    },
  })
  let view: View | undefined
  let choices: Choices = { codes: [], currencies: new Map() }
  let shown: LatestRates | undefined
  let changes: Readonly<Record<string, number>> = {}
  let changesOf = ''
  let whyNone = ''
  let searchAmong = searchNames
  const panel = createPanel(section, api, {
    operation: 'latest',
    show(table) {
      shown = table
      showRows()
      showAge(table, Date.now())
      listed(table)
      void loadChanges()
    },
  })

  function showRows(): void {
    if (!shown || !view) return
    const { rates, base } = shown
    find('#unit').textContent = `1 ${base} =`
    const entries = Object.entries(rates).map(([code, rate]) => {
      const name = choices.currencies.get(code)?.name ?? ''
      return { code, rate, name, change: changes[code] }
    })
    rows.show(sortRows(entries, view.sort, favourites.read()), favourites.read())
    filter()
  }
  async function loadSearch(): Promise<void> {
    try {
      const more = await api.loadMore()
      searchAmong = (among, text) => more.searchAmong(among).find(text)
      filter()
    } catch {
      // Codes and names are still found.
    }
  }
  /** Loads the changes since the previous day with one request, unless they are known. */
  async function loadChanges(): Promise<void> {
    if (!shown || !choices.coverage) return
    const { base, updatedAt } = shown
    const key = `${base} ${updatedAt}`
    if (key === changesOf) return
    changesOf = key
    changes = {}
    whyNone = choices.coverage.whyNone(base, base) ?? ''
    if (whyNone === '') {
      const path = pathOf('', { operation: 'latest', parameters: { base, change: '1D' } })
      try {
        const { change } = await api.request<LatestRates>(path, 'change')
        if (key === changesOf) changes = change?.percent ?? {}
      } catch {
        if (key !== changesOf) return
        // The next table or list of currencies comes with a new request.
        changesOf = ''
        whyNone = 'No changes at the moment'
      }
    }
    showRows()
  }
  function filter(): void {
    if (!shown) return
    const text = search.value.trim()
    const codes = Object.keys(shown.rates)
    const found = text === '' ? codes : searchAmong(choices, text)
    const count = rows.filter(new Set(found))
    find('#count').textContent =
      count === 0
        ? `No currency matches “${text}”`
        : `${count} of ${codes.length} currencies${whyNone && `. ${whyNone}`}`
  }

  search.addEventListener('focus', () => void loadSearch())
  search.addEventListener('input', filter)

  return {
    ...panel,
    show(next, known) {
      const isNew = known !== choices
      const isChanged = isNew || next.sort !== view?.sort
      view = next
      choices = known
      base.show(known, next.base)
      heads.show(next.sort)
      rows.mark(next.to)
      if (isChanged) showRows()
      if (isNew) void loadChanges()
      panel.load({ base: next.base })
    },
    tick(now) {
      if (!shown) return
      showAge(shown, now)
      if (now > shown.nextUpdateAt && !document.hidden) panel.reload()
    },
  }
}

function createHeads(sort: (column: string) => void) {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('#table [data-sort]')]
  for (const button of buttons) {
    button.addEventListener('click', () => sort(button.dataset['sort'] ?? ''))
  }
  return {
    show(sort: string): void {
      const order = parseSort(sort)
      for (const button of buttons) {
        const head = button.closest('th')
        const isSorted = order?.column === button.dataset['sort']
        if (head) head.ariaSort = !isSorted ? 'none' : order?.isFalling ? 'descending' : 'ascending'
      }
    },
  }
}

function searchNames({ codes, currencies }: Choices, text: string): string[] {
  const wanted = text.toLowerCase()
  return codes.filter((code) =>
    `${code} ${currencies.get(code)?.name}`.toLowerCase().includes(wanted),
  )
}

function showAge(table: LatestRates, now: number): void {
  const age = find('#table .age')
  age.textContent = publicationInWords(table, now)
  age.classList.toggle('overdue', now > table.nextUpdateAt)
}
