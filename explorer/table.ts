import type { LatestRates } from 'ratesmith/client'

import { whyNoHistory } from './api.ts'
import type { Api } from './page-api.ts'
import type { searchAmong as SearchAmong } from './combobox.ts'
import { createCurrencyField } from './currency-field.ts'
import { labelOf } from './currency-label.ts'
import { find } from './dom.ts'
import { favourites } from './memory.ts'
import { nextSort, parseSort, sortRows } from './order.ts'
import { createPanel } from './panel.ts'
import { isAboutKeys } from './retries.ts'
import { createRows } from './rows.ts'
import { publicationInWords, timeInWords } from './times.ts'
import { NO_CHOICES } from './view.ts'
import type { Part, View } from './view.ts'

interface TableEvents {
  change(to: Partial<View>): void
  listed(table: LatestRates): void
}

interface RateTable extends Part {
  /** Updates texts that depend on the time `now` (ms since the Unix epoch), and reloads rates that are due. */
  tick(now: number): void
}

// oxlint-disable-next-line max-lines-per-function -- the wiring of the section.
export function createRateTable(api: Api, { change, listed }: TableEvents): RateTable {
  const section = find('#table')
  const base = createCurrencyField('#base', api, (code) => change({ base: code }), labelOf)
  const search = find('#search', HTMLInputElement)
  const all = find('#all', HTMLButtonElement)
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
  let choices = NO_CHOICES
  let shown: LatestRates | undefined
  /** The base whose rates came without changes, because a request for both failed. */
  let withoutChanges: string | undefined
  let searchAmong: typeof SearchAmong | undefined
  const panel = createPanel(section, api, {
    operation: 'latest',
    show(table) {
      shown = table
      showRows()
      showAge(table, Date.now())
      listed(table)
    },
    instead(error) {
      if (!view || withoutChanges === view.base || isAboutKeys(error)) return undefined
      if (error.code === 'invalid_currency') return undefined
      withoutChanges = view.base
      return { base: view.base }
    },
  })

  function showRows(): void {
    if (!view) return
    const starred = favourites.read()
    // Until a response, the favourites keep their places.
    const { rates, base, change } = shown ?? { base: view.base }
    const entries = (rates ? Object.keys(rates) : starred).map((code) => ({
      code,
      name: choices.currencies.get(code)?.name ?? '',
      rate: rates?.[code],
      change: change?.percent[code],
    }))
    find('#unit').textContent = `1 ${base} =`
    rows.show(sortRows(entries, view.sort, starred), starred)
    filter()
  }
  function filter(): void {
    if (!shown) return
    const text = search.value.trim()
    const codes = Object.keys(shown.rates)
    const matches = text === '' ? undefined : searchAmong?.(choices).find(text)
    const found = new Set(matches ?? codes)
    section.classList.toggle('whole', text !== '' || Boolean(all.hidden))
    rows.filter(found)
    const count = codes.filter((code) => found.has(code)).length
    const without = whyNoHistory(choices, shown.base, shown.base)
    const why = without ?? (shown.change ? '' : 'No changes at the moment')
    find('#count').textContent =
      count === 0
        ? `No currency matches “${text}”`
        : `${text === '' ? '' : `${count} of `}${codes.length} currencies${why && `. ${why}`}`
    all.textContent = `Show all ${codes.length} currencies`
  }
  function load(): void {
    if (!view) return
    const { base } = view
    const hasChanges = withoutChanges !== base && !whyNoHistory(choices, base, base)
    panel.load(hasChanges ? { base, change: '1D' } : { base })
  }

  api.onMore((more) => {
    searchAmong = more.searchAmong
    filter()
  })
  search.addEventListener('input', filter)
  all.addEventListener('click', () => {
    all.hidden = true
    filter()
    rows.focus(favourites.read().length)
  })

  return {
    ...panel,
    show(next, known) {
      const isChanged = known !== choices || next.sort !== view?.sort
      view = next
      choices = known
      base.show(known, next.base)
      heads.show(next.sort)
      rows.mark(next.to)
      if (isChanged) showRows()
      load()
    },
    tick(now) {
      if (!shown) return
      showAge(shown, now)
      if (now <= shown.nextUpdateAt || document.hidden) return
      if (withoutChanges === undefined) return panel.reload()
      withoutChanges = undefined
      load()
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

function showAge(table: LatestRates, now: number): void {
  const age = find('#table time')
  age.textContent = publicationInWords(table, now)
  age.title = timeInWords(table.updatedAt)
  age.classList.toggle('overdue', now > table.nextUpdateAt)
}
