import type { CurrencyList } from 'ratesmith/client'

import type { Api } from './page-api.ts'
import { createHistoryChart } from './chart.ts'
import { createConverter } from './converter.ts'
import type { createKeyCard } from './key.ts'
import { createMore } from './second-script.ts'
import { createCodeMemory } from './memory.ts'
import { requestBody } from './request.ts'
import { isAboutKeys } from './retries.ts'
import { createRateTable } from './table.ts'
import { NO_CHOICES, fragmentOf, parseView } from './view.ts'
import type { Choices, Part, View } from './view.ts'

const TICK_INTERVAL_MS = 60_000
/** Delay before a changed view goes into the address, in ms: browsers limit how often an address may change. */
const URL_UPDATE_DELAY_MS = 400

function start(base: string): void {
  const baseUrl = location.origin + base
  const { onMore, needMore } = createMore(`${baseUrl}/explorer-api.js`)
  let key: string | undefined
  const keyHeader = (): Record<string, string> =>
    key === undefined ? {} : { authorization: `Bearer ${key}` }
  let card: ReturnType<typeof createKeyCard> | undefined
  const api: Api = {
    base,
    keyHeader,
    onMore,
    needMore,
    request: (path, field, options = {}) =>
      requestBody(baseUrl + path, field, keyHeader(), options),
    failed(error) {
      if (!isAboutKeys(error)) return
      needMore()
      onMore(() => card?.refused(error))
    },
  }
  const page = createPage(api)
  onMore((more) => {
    card = more.createKeyCard(api, (next) => {
      key = next
      page.loadNames()
      for (const part of page.parts) part.reload()
    })
    more.createMenu(page.settle)
  })
  addEventListener('popstate', page.readAddress)
  addEventListener('online', () => page.parts.forEach((part) => part.recover()))
  setInterval(page.tick, TICK_INTERVAL_MS)
  for (const link of document.querySelectorAll<HTMLAnchorElement>('[data-path]')) {
    link.href = base + link.dataset['path']
  }
  page.readAddress()
  page.settle()
  page.loadNames()
}

// oxlint-disable-next-line max-lines-per-function -- the wiring of all parts.
function createPage(api: Api) {
  const lastPair = createCodeMemory('ratesmith-pair', [])
  let view = parseView('')
  let choices = NO_CHOICES
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
    const next = { ...view, ...to }
    if (next.from !== view.from || next.to !== view.to) {
      settle()
      // The browser's button for the last page goes to the last pair.
      history.pushState(null, '', fragmentOf(next))
      lastPair.write([next.from, next.to])
    }
    view = next
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
      choices = { ...choices, areNamed: true }
    }
    show()
    // Without a pointer that hovers, the first interaction is a tap, which needs the script.
    if (matchMedia('(hover: none)').matches) api.needMore()
  }

  const converter = createConverter(api, change)
  const table = createRateTable(api, {
    change,
    listed({ rates, updatedAt }) {
      const codes = Object.keys(rates).toSorted()
      if (codes.join() !== choices.codes.join()) choices = { ...choices, codes }
      if (choices.areNamed && choices.currencies.size === 0) void loadNames()
      show()
      if (publishedAt !== undefined && publishedAt !== updatedAt) converter.reload()
      publishedAt = updatedAt
    },
  })
  const chart = createHistoryChart(api, { change, loaded: converter.trend })
  const parts: Part[] = [converter, chart, table]
  return {
    readAddress(): void {
      clearTimeout(settling)
      const [from, to] = lastPair.read()
      view = parseView(location.hash || (to ? `from=${from}&to=${to}` : ''))
      show()
    },
    settle,
    loadNames: (): void => void loadNames(),
    parts,
    /** Updates texts that depend on the time, and loads missing names and coverage. */
    tick(): void {
      const all = [...choices.currencies.values()]
      if (all.some(({ history }) => history === null)) void loadNames()
      table.tick(Date.now())
    },
  }
}

/** Returns all currencies in use, for the lists until the first table of rates arrives. */
async function readCurrencies({ request }: Pick<Api, 'request'>): Promise<Choices> {
  const { currencies } = await request<CurrencyList>('/v1/currencies', 'currencies')
  return {
    codes: currencies.filter(({ withdrawn }) => !withdrawn).map(({ code }) => code),
    currencies: new Map(currencies.map((currency) => [currency.code, currency])),
    areNamed: true,
  }
}

// Two slashes at the start would be read as another host.
start(location.pathname.replace(/^\/{2,}/, '/').replace(/\/$/, ''))
