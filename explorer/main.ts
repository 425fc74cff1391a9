import type { CurrencyList } from 'ratesmith/client'

import { UNKNOWN_COVERAGE, historyCoverageOf } from './api.ts'
import type { Api } from './page-api.ts'
import { createHistoryChart } from './chart.ts'
import { createConverter } from './converter.ts'
import { fragmentOf, parseView } from './dom.ts'
import type { Choices, Part, View } from './dom.ts'
import { createCopyLink, createThemeSwitch, showBasePath } from './header.ts'
import { createKeyField } from './key.ts'
import { createCodeMemory } from './memory.ts'
import { requestBody } from './request.ts'
import { createRateTable } from './table.ts'

const TICK_INTERVAL_MS = 60_000
/** Delay before a changed view goes into the address, in ms: browsers limit how often an address may change. */
const URL_UPDATE_DELAY_MS = 400

function start(base: string): void {
  const baseUrl = location.origin + base
  let key: string | undefined
  let more: ReturnType<Api['loadMore']> | undefined
  const keyHeader = (): Record<string, string> =>
    key === undefined ? {} : { authorization: `Bearer ${key}` }
  const field = createKeyField((next) => {
    key = next
    page.loadNames()
    for (const part of page.parts) part.reload()
  })
  const page = createPage({
    base,
    request: (path, field, options = {}) =>
      requestBody(baseUrl + path, field, keyHeader(), options),
    keyHeader,
    hasKey: () => key !== undefined,
    async loadMore() {
      try {
        // One promise, as calls of `import` may resolve in another order.
        return await (more ??= import(`${baseUrl}/explorer-api.js`))
      } catch (error) {
        more = undefined
        throw error
      }
    },
    refused: field.open,
  })
  addEventListener('hashchange', page.readAddress)
  addEventListener('online', () => page.parts.forEach((part) => part.recover()))
  setInterval(page.tick, TICK_INTERVAL_MS)
  createThemeSwitch()
  createCopyLink(page.settle)
  showBasePath(base)
  page.readAddress()
  page.settle()
  page.loadNames()
}

// oxlint-disable-next-line max-lines-per-function -- the wiring of all parts.
function createPage(api: Api) {
  const lastPair = createCodeMemory('ratesmith-pair', [])
  let view = parseView('')
  let choices: Choices = { codes: [], currencies: new Map() }
  let publishedAt: number | undefined
  let settling: ReturnType<typeof setTimeout> | undefined

  function show(): void {
    document.title = `${view.from} to ${view.to} – ratesmith`
    for (const part of parts) part.show(view, choices)
  }
  function settle(): void {
    clearTimeout(settling)
    history.replaceState(null, '', fragmentOf(view))
  }
  function change(to: Partial<View>): void {
    view = { ...view, ...to }
    if (to.from ?? to.to) lastPair.write([view.from, view.to])
    show()
    clearTimeout(settling)
    settling = setTimeout(settle, URL_UPDATE_DELAY_MS)
  }
  /** Loads the names of the currencies, and which have a history; the page works without them. */
  async function loadNames(): Promise<void> {
    try {
      const known = await readCurrencies(api)
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
      if (choices.coverage && choices.currencies.size === 0) void loadNames()
      show()
      if (publishedAt !== undefined && publishedAt !== updatedAt) converter.reload()
      publishedAt = updatedAt
    },
  })
  const parts: Part[] = [converter, createHistoryChart(api, change), table]
  return {
    readAddress(): void {
      const [from, to] = lastPair.read()
      view = parseView(location.hash || (to ? `from=${from}&to=${to}` : ''))
      show()
    },
    settle,
    loadNames: (): void => void loadNames(),
    parts,
    /** Updates texts that depend on the time, and loads missing names and coverage. */
    tick(): void {
      if (choices.coverage?.isComplete === false) void loadNames()
      for (const part of parts) part.tick(Date.now())
    },
  }
}

/** Returns all currencies in use, for the lists until the first table of rates arrives. */
async function readCurrencies({ request }: Pick<Api, 'request'>): Promise<Choices> {
  const { currencies } = await request<CurrencyList>('/v1/currencies', 'currencies')
  return {
    codes: currencies.filter(({ withdrawn }) => !withdrawn).map(({ code }) => code),
    currencies: new Map(currencies.map((currency) => [currency.code, currency])),
    coverage: historyCoverageOf(currencies),
  }
}

// Two slashes at the start would be read as another host.
start(location.pathname.replace(/^\/{2,}/, '/').replace(/\/$/, ''))
