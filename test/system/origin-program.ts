// An app behind a proxy, which can be given another handler while it runs: prints `{ url }`.
import { createServer } from 'node:http'

import { createRatesHandler } from 'ratesmith'
import type { LatestProvider, RatesHandlerOptions } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { settingsFromParent, tellParent } from './child.ts'
import { listenOnFreePort } from './ports.ts'

/** The handlers that the app can have; it starts with the good one. */
export type HandlerName = 'good' | 'republished' | 'withoutEuro' | 'elsewhere' | 'withoutData'

/** A request that has reached the handler. */
export interface Asked {
  method: string
  target: string
  ifNoneMatch: string | null
}

const now = (): number => Date.UTC(2026, 10, 20, 18)
const market = fakeProviders({ now })
const withoutEuro: LatestProvider = {
  ...market.latest,
  async fetchLatest(context) {
    const { rates, ...table } = await market.latest.fetchLatest(context)
    const others = Object.entries(rates).filter(([code]) => code !== 'EUR')
    return { ...table, rates: Object.fromEntries(others) }
  },
}
const withoutData: LatestProvider = {
  ...market.latest,
  fetchLatest: () => Promise.reject(new Error('no data')),
}
const OPTIONS: Record<HandlerName, RatesHandlerOptions> = {
  good: { providers: market },
  republished: { providers: fakeProviders({ seed: 2, now }) },
  withoutEuro: { providers: { latest: withoutEuro } },
  elsewhere: { providers: market, basePath: '/elsewhere' },
  withoutData: { providers: { latest: withoutData } },
}
const handlers = new Map(
  Object.entries(OPTIONS).map(([name, options]) => [
    `/become/${name}`,
    createRatesHandler({ ...options, now }),
  ]),
)

// There are none, but it is to end with its parent.
settingsFromParent()
let answer = toNodeHandler(createRatesHandler({ ...OPTIONS.good, now }))
const asked: Asked[] = []

const server = createServer((request, response) => {
  const { method = '', url = '', headers } = request
  const next = handlers.get(url)
  if (next) answer = toNodeHandler(next)
  if (next || url === '/asked') {
    response.end(JSON.stringify(asked))
    return
  }
  asked.push({ method, target: url, ifNoneMatch: headers['if-none-match'] ?? null })
  answer(request, response)
})
tellParent({ url: `http://127.0.0.1:${await listenOnFreePort(server)}` })
