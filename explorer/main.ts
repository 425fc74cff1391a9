import { request } from './api.ts'
import { createHistoryChart } from './chart.ts'
import { createConverter } from './converter.ts'
import { find } from './dom.ts'
import type { Choices } from './dom.ts'
import { createRateTable } from './table.ts'
import { fragmentOf, parseView } from './view.ts'
import type { Part, View } from './view.ts'

const TICK_INTERVAL_MS = 60_000
/** Delay before a changed view goes into the address, in ms: browsers limit how often an address may change. */
const URL_UPDATE_DELAY_MS = 400

function start(base: string): void {
  let view = parseView(location.hash)
  let choices: Choices = { codes: [], names: new Map() }
  let publishedAt: number | undefined
  let settling: ReturnType<typeof setTimeout> | undefined

  function show(): void {
    document.title = `${view.from} to ${view.to} – ratesmith`
    for (const part of parts) part.show(view, choices)
  }

  function change(to: Partial<View>): void {
    view = { ...view, ...to }
    show()
    clearTimeout(settling)
    settling = setTimeout(
      () => history.replaceState(null, '', fragmentOf(view)),
      URL_UPDATE_DELAY_MS,
    )
  }

  const converter = createConverter(base, change)
  const table = createRateTable(base, {
    change,
    listed({ rates, updatedAt }) {
      const codes = Object.keys(rates).toSorted()
      if (codes.join() !== choices.codes.join()) choices = { ...choices, codes }
      show()
      if (publishedAt !== undefined && publishedAt !== updatedAt) converter.reload()
      publishedAt = updatedAt
    },
  })
  const parts: Part[] = [converter, createHistoryChart(base, change), table]

  async function loadNames(): Promise<void> {
    const known = await readCurrencies(base)
    choices = choices.codes.length > 0 ? { ...known, codes: choices.codes } : known
    show()
  }

  addEventListener('hashchange', () => {
    view = parseView(location.hash)
    show()
  })
  addEventListener('online', () => {
    for (const part of parts) part.recover()
  })
  setInterval(() => {
    // The page works without names; a failed request for them is repeated here.
    if (choices.names.size === 0) loadNames().catch(() => {})
    for (const part of parts) part.tick(Date.now())
  }, TICK_INTERVAL_MS)
  showBasePath(base)
  show()
  loadNames().catch(() => {})
}

/** Returns all currencies in use, for the lists until the first table of rates arrives. */
async function readCurrencies(base: string): Promise<Choices> {
  const { currencies } = await request<'currencies'>(`${base}/v1/currencies`)
  return {
    codes: currencies.filter(({ withdrawn }) => !withdrawn).map(({ code }) => code),
    names: new Map(currencies.map(({ code, name }) => [code, name ?? code])),
  }
}

function showBasePath(base: string): void {
  find('#root', HTMLElement).textContent = location.origin + base
  for (const link of document.querySelectorAll<HTMLAnchorElement>('[data-path]')) {
    link.href = base + link.dataset['path']
  }
}

// Two slashes at the start would be read as another host.
start(location.pathname.replace(/^\/{2,}/, '/').replace(/\/$/, ''))
