import { createRatesClient } from 'ratesmith/client'
import type { RatesClient } from 'ratesmith/client'

import { UNKNOWN_COVERAGE, historyCoverageOf } from './api.ts'
import type { Api } from './api.ts'
import { createHistoryChart } from './chart.ts'
import { createConverter } from './converter.ts'
import { find, fragmentOf, parseView } from './dom.ts'
import type { Choices, Part, View } from './dom.ts'
import { createKeyField } from './key.ts'
import { createRateTable } from './table.ts'

const TICK_INTERVAL_MS = 60_000
/** Delay before a changed view goes into the address, in ms: browsers limit how often an address may change. */
const URL_UPDATE_DELAY_MS = 400

function start(base: string): void {
  const baseUrl = location.origin + base
  // The panels show errors and retry without a limit.
  const connect = (key?: string): RatesClient => createRatesClient({ baseUrl, retries: 0, key })
  let client = connect()
  let hasKey = false
  const field = createKeyField((key) => {
    client = connect(key)
    hasKey = key !== undefined
    page.loadNames()
    for (const part of page.parts) part.reload()
  })
  const page = createPage({
    base,
    client: () => client,
    hasKey: () => hasKey,
    refused: field.open,
  })
  addEventListener('hashchange', page.readAddress)
  addEventListener('online', () => page.parts.forEach((part) => part.recover()))
  setInterval(page.tick, TICK_INTERVAL_MS)
  showBasePath(base)
  page.readAddress()
  page.loadNames()
}

interface Page {
  /** Shows the view in the address. */
  readAddress(): void
  /** Loads the names of the currencies, and which have a history; the page works without them. */
  loadNames(): void
  parts: readonly Part[]
  /** Updates texts that depend on the time, and loads missing names and coverage. */
  tick(): void
}

function createPage(api: Api): Page {
  let view = parseView('')
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
    const settle = (): void => history.replaceState(null, '', fragmentOf(view))
    settling = setTimeout(settle, URL_UPDATE_DELAY_MS)
  }
  async function loadNames(): Promise<void> {
    try {
      const known = await readCurrencies(api.client())
      choices = choices.codes.length > 0 ? { ...known, codes: choices.codes } : known
    } catch {
      choices = { coverage: UNKNOWN_COVERAGE, ...choices }
    }
    show()
  }

  const converter = createConverter(api, change)
  const table = createRateTable(api, {
    change,
    listed({ rates, updatedAt }) {
      const codes = Object.keys(rates).toSorted()
      if (codes.join() !== choices.codes.join()) choices = { ...choices, codes }
      show()
      if (publishedAt !== undefined && publishedAt !== updatedAt) converter.reload()
      publishedAt = updatedAt
    },
  })
  const parts: Part[] = [converter, createHistoryChart(api, change), table]
  return {
    readAddress() {
      view = parseView(location.hash)
      show()
    },
    loadNames: () => void loadNames(),
    parts,
    tick() {
      if (choices.coverage?.isComplete === false) void loadNames()
      for (const part of parts) part.tick(Date.now())
    },
  }
}

/** Returns all currencies in use, for the lists until the first table of rates arrives. */
async function readCurrencies(client: RatesClient): Promise<Choices> {
  const { currencies } = await client.currencies()
  return {
    codes: currencies.filter(({ withdrawn }) => !withdrawn).map(({ code }) => code),
    names: new Map(currencies.map(({ code, name }) => [code, name ?? code])),
    coverage: historyCoverageOf(currencies),
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
