import { describe, expect, it } from 'vitest'

import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../src/index.ts'
import type { Attribution, HistoryProvider, LatestProvider } from '../../src/index.ts'
import { createCurrencyapiProvider } from '../../src/providers/currencyapi.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/ecb.ts'
import { createExchangeRateApiV6Provider } from '../../src/providers/exchange-rate-api-v6.ts'
import { createFawazahmed0Provider } from '../../src/providers/fawazahmed0.ts'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from '../../src/providers/frankfurter-v2.ts'
import { createOpenExchangeRatesProvider } from '../../src/providers/open-exchange-rates.ts'
import { dailyXml, exrCsv, newest } from '../fixtures/ecb-files.ts'
import {
  currencyapiBody,
  exchangeRateApiV6Body,
  fawazahmed0Body,
  frankfurterV2EcbRows,
  frankfurterV2Rows,
  openExchangeRatesBody,
} from '../fixtures/feed-payloads.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { NOW, upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

const RANGE = { start: '2026-11-07', end: '2026-11-20' }
const MIB = 1_048_576

/** A provider, and how its upstream is read. */
interface Feed {
  create(url?: string): LatestProvider | HistoryProvider
  attribution: Attribution
  /** Where it is by default, and what is appended to a root. */
  root: string
  path: string
  headers: Record<string, string>
  /** What the upstream answers when all is well, if that is not JSON as text. */
  body: unknown
  maxBytes: number
  redirectHosts: string[]
  /** Fields in another form, and how a message names them. */
  odd?: [overrides: object, where: string][]
}

const JSON_ONLY = { accept: 'application/json' }
const BANK = {
  name: 'European Central Bank',
  url: 'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html',
}
const RELAY = {
  name: 'European Central Bank (via Frankfurter)',
  url: 'https://frankfurter.dev',
}

const FEEDS: Record<string, Feed> = {
  'createExchangeRateApiProvider()': {
    create: (url) => createExchangeRateApiProvider({ url }),
    attribution: { name: 'Rates By Exchange Rate API', url: 'https://www.exchangerate-api.com' },
    root: 'https://open.er-api.com',
    path: '/v6/latest/USD',
    headers: JSON_ONLY,
    body: JSON.parse(openErApiPayload({ now: NOW })),
    maxBytes: MIB,
    redirectHosts: ['open.er-api.com', 'www.exchangerate-api.com'],
    odd: [
      [{ result: undefined }, 'result'],
      [{ result: 'SUCCESS' }, 'result'],
      [{ time_last_update_unix: undefined }, 'time_last_update_unix'],
      [{ time_last_update_unix: 0 }, 'time_last_update_unix'],
      [{ time_last_update_unix: '1763600000' }, 'time_last_update_unix'],
      [{ time_next_update_unix: 'soon' }, 'time_next_update_unix'],
      [{ rates: undefined }, 'rates'],
      [{ rates: null }, 'rates'],
      [{ rates: 'EUR' }, 'rates'],
      [{ rates: 1, base_code: undefined }, 'base_code, rates'],
    ],
  },
  'createExchangeRateApiV6Provider()': {
    create: (url) => createExchangeRateApiV6Provider({ key: 'k-1', url }),
    attribution: { name: 'ExchangeRate-API', url: 'https://www.exchangerate-api.com' },
    root: 'https://v6.exchangerate-api.com',
    path: '/v6/latest/USD',
    headers: { ...JSON_ONLY, authorization: 'Bearer k-1' },
    body: exchangeRateApiV6Body(NOW),
    maxBytes: MIB,
    redirectHosts: ['v6.exchangerate-api.com', 'www.exchangerate-api.com'],
    odd: [[{ conversion_rates: 1 }, 'rates']],
  },
  'createOpenExchangeRatesProvider()': {
    create: (url) => createOpenExchangeRatesProvider({ key: 'k-1', url }),
    attribution: { name: 'Open Exchange Rates', url: 'https://openexchangerates.org' },
    root: 'https://openexchangerates.org/api',
    path: '/latest.json',
    headers: { ...JSON_ONLY, authorization: 'Token k-1' },
    body: openExchangeRatesBody(NOW),
    maxBytes: MIB,
    redirectHosts: ['openexchangerates.org', 'www.openexchangerates.org'],
    odd: [
      [{ base: 'EUR' }, 'base'],
      [{ timestamp: 0 }, 'timestamp'],
      [{ rates: undefined }, 'rates'],
    ],
  },
  'createCurrencyapiProvider()': {
    create: (url) => createCurrencyapiProvider({ key: 'k-1', url }),
    attribution: { name: 'currencyapi', url: 'https://currencyapi.com' },
    root: 'https://api.currencyapi.com',
    path: '/v3/latest',
    headers: { ...JSON_ONLY, apikey: 'k-1' },
    body: currencyapiBody(NOW),
    maxBytes: MIB,
    redirectHosts: ['api.currencyapi.com', 'currencyapi.com'],
    odd: [
      [{ meta: null }, 'meta'],
      [{ data: 'USD' }, 'data'],
    ],
  },
  'createFawazahmed0Provider()': {
    create: (url) => createFawazahmed0Provider({ urls: url === undefined ? undefined : [url] }),
    attribution: {
      name: 'fawazahmed0/exchange-api',
      url: 'https://github.com/fawazahmed0/exchange-api',
    },
    root: 'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@latest/v1',
    path: '/currencies/usd.min.json',
    headers: JSON_ONLY,
    body: fawazahmed0Body(NOW),
    maxBytes: MIB,
    redirectHosts: ['cdn.jsdelivr.net', 'latest.currency-api.pages.dev', 'currency-api.pages.dev'],
    odd: [
      [{ date: '2026-11-31' }, 'date'],
      [{ date: undefined, usd: 1 }, 'date, usd'],
      [{ usd: null }, 'usd'],
    ],
  },
  'createFrankfurterProvider()': {
    create: (url) => createFrankfurterProvider({ url }),
    attribution: RELAY,
    root: 'https://api.frankfurter.dev',
    path: '/v1/2026-11-07..2026-11-20',
    headers: JSON_ONLY,
    body: JSON.parse(frankfurterPayload({ ...RANGE, now: NOW })),
    maxBytes: 4 * MIB,
    redirectHosts: ['api.frankfurter.dev', 'frankfurter.dev'],
    odd: [
      [{ amount: 100 }, 'amount'],
      [{ base: 'USD' }, 'base'],
      [{ rates: undefined }, 'rates'],
      [{ rates: null }, 'rates'],
      [{ rates: [{ USD: 1.1 }] }, 'rates'],
      [{ rates: { '2026-11-09': 1.1 } }, 'rates.2026-11-09'],
      [{ rates: { '2026-11-09': null } }, 'rates.2026-11-09'],
    ],
  },
  'createFrankfurterV2Provider()': {
    create: (url) => createFrankfurterV2Provider({ url }),
    attribution: { name: 'Frankfurter', url: 'https://frankfurter.dev' },
    root: 'https://api.frankfurter.dev',
    path: '/v2/rates?base=USD',
    headers: JSON_ONLY,
    body: frankfurterV2Rows(NOW),
    maxBytes: 8 * MIB,
    redirectHosts: ['api.frankfurter.dev', 'frankfurter.dev'],
  },
  'createFrankfurterV2EcbProvider()': {
    create: (url) => createFrankfurterV2EcbProvider({ url }),
    attribution: RELAY,
    root: 'https://api.frankfurter.dev',
    path: '/v2/rates?providers=ECB&from=2026-11-07&to=2026-11-20',
    headers: JSON_ONLY,
    body: frankfurterV2EcbRows(RANGE.start, RANGE.end, NOW),
    maxBytes: 8 * MIB,
    redirectHosts: ['api.frankfurter.dev', 'frankfurter.dev'],
  },
  'createEcbProvider()': {
    create: (url) => createEcbProvider({ url }),
    attribution: BANK,
    root: 'https://www.ecb.europa.eu/stats/eurofxref',
    path: '/eurofxref-daily.xml',
    headers: { accept: 'application/xml, text/xml' },
    body: dailyXml(newest(NOW)),
    maxBytes: 4 * MIB,
    redirectHosts: ['www.ecb.europa.eu', 'ecb.europa.eu'],
  },
  'createEcbDataApiProvider()': {
    create: (url) => createEcbDataApiProvider({ url }),
    attribution: BANK,
    root: 'https://data-api.ecb.europa.eu',
    path: '/service/data/EXR/D..EUR.SP00.A?lastNObservations=1&detail=dataonly&format=csvdata',
    headers: { accept: 'text/csv' },
    body: exrCsv([newest(NOW)]),
    maxBytes: 32 * MIB,
    redirectHosts: ['data-api.ecb.europa.eu'],
  },
}

const ROOT = 'https://feed.example'

/** Calls the provider for its latest rates, or else for those of `RANGE`. */
function call(provider: LatestProvider | HistoryProvider, { context }: Upstream): Promise<object> {
  if ('fetchLatest' in provider) return provider.fetchLatest(context)
  return provider.fetchHistory(RANGE, context)
}

describe.each(Object.entries(FEEDS))('%s', (_, feed) => {
  const { create, body } = feed
  const good = (init?: ResponseInit): Response =>
    typeof body === 'string' ? new Response(body, init) : Response.json(body, init)

  it('names its source, and makes one request with the headers that it needs', async () => {
    const market = upstream([good])
    const provider = create()
    await call(provider, market)
    expect(provider.attribution).toEqual(feed.attribution)
    expect(market.asked).toHaveLength(1)
    expect(market.asked[0]?.url).toBe(`${feed.root}${feed.path}`)
    expect(market.asked[0]?.init.headers).toEqual(feed.headers)
  })

  it.each(['http://127.0.0.1:8080', 'http://127.0.0.1:8080/mirror//'])(
    'makes its request below the root %s',
    async (root) => {
      const market = upstream([good])
      await call(create(root), market)
      expect(market.asked[0]?.url).toBe(`${root.replace(/\/+$/, '')}${feed.path}`)
    },
  )

  it.each(['', 'open.er-api.com', '/v1', 'ftp://x', 'https://x?key=1', 'https://x#y'])(
    'throws for the root %j',
    (root) => {
      expect(() => create(root)).toThrow(TypeError)
    },
  )

  it.each(feed.redirectHosts)('follows a redirect to %s', async (host) => {
    const headers = { location: `https://${host}/x` }
    const market = upstream([new Response(null, { status: 302, headers }), good])
    await call(create(ROOT), market)
    expect(market.asked.at(-1)?.url).toBe(`https://${host}/x`)
  })

  it('follows no redirect to another host', async () => {
    const headers = { location: 'https://elsewhere.example/x' }
    const market = upstream([new Response(null, { status: 302, headers }), good])
    await expect(call(create(ROOT), market)).rejects.toThrow('is not trusted')
  })

  it('refuses an answer of more bytes than its limit', async () => {
    const market = upstream([new Response(new Uint8Array(feed.maxBytes + 1).fill(32))])
    await expect(call(create(ROOT), market)).rejects.toThrow(
      `feed.example answered 200 with more than ${feed.maxBytes} bytes`,
    )
  })

  it.each([203, 206, 400, 404, 422, 500, 503])('fails with the status %d', async (status) => {
    const market = upstream([good({ status, headers: { 'retry-after': '7' } })])
    await expect(call(create(ROOT), market)).rejects.toMatchObject({
      name: 'UpstreamError',
      message: `feed.example answered with status ${status}`,
      retryAfterMs: 7_000,
    })
  })

  it('refuses JSON in another form, and says where', async () => {
    for (const [overrides, where] of feed.odd ?? []) {
      const market = upstream([Response.json({ ...Object(body), ...overrides })])
      await expect(call(create(ROOT), market), where).rejects.toThrow(
        new Error(`feed.example answered in another form: ${where}`),
      )
    }
  })
})
