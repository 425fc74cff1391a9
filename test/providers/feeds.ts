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
import type { UpstreamFetch } from '../../src/testing/index.ts'
import { answerAsBank, dailyXml, exrCsv, newest } from '../fixtures/ecb-files.ts'
import {
  answerOfFrankfurterV2,
  currencyapiBody,
  exchangeRateApiV6Body,
  fawazahmed0Body,
  frankfurterV2EcbRows,
  frankfurterV2Rows,
  openExchangeRatesBody,
} from '../fixtures/feed-payloads.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { NOW } from './upstream.ts'

/** The range requested from providers of history. */
export const RANGE = { start: '2026-11-07', end: '2026-11-20' }
const MIB = 1_048_576

/** A provider, and the requests and responses of its upstream. */
export interface Feed {
  create(url?: string): Partial<LatestProvider & HistoryProvider>
  attribution: Attribution
  /** Default root, and the path appended to a root. */
  root: string
  path: string
  headers: Record<string, string>
  /** Body of a good response: a string as is, anything else as JSON. */
  body: unknown
  /** Responds to each range of days like the upstream (default `body`). */
  fetch?: UpstreamFetch
  maxBytes: number
  redirectHosts: string[]
  /** Invalid fields (null: the whole body), and their names in the message. */
  invalid?: [overrides: object | null, where: string][]
}

const JSON_ONLY = { accept: 'application/json' }
const SMALL_JSON = { headers: JSON_ONLY, maxBytes: MIB }
const BANK = {
  name: 'European Central Bank',
  url: 'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html',
}
const RELAY = {
  name: 'European Central Bank (via Frankfurter)',
  url: 'https://frankfurter.dev',
}

const bank: UpstreamFetch = (request) => answerAsBank(request, NOW)

/** Every provider that reads an upstream. */
export const FEEDS: Record<string, Feed> = {
  'createExchangeRateApiProvider()': {
    create: (url) => createExchangeRateApiProvider({ url }),
    attribution: { name: 'Rates By Exchange Rate API', url: 'https://www.exchangerate-api.com' },
    root: 'https://open.er-api.com',
    path: '/v6/latest/USD',
    ...SMALL_JSON,
    body: JSON.parse(openErApiPayload({ now: NOW })),
    redirectHosts: ['open.er-api.com', 'www.exchangerate-api.com'],
    invalid: [
      [null, 'whole body'],
      [{ result: 'SUCCESS' }, 'result'],
      [{ time_last_update_unix: 0 }, 'time_last_update_unix'],
      [{ time_last_update_unix: '1763600000' }, 'time_last_update_unix'],
      [{ time_next_update_unix: 'soon' }, 'time_next_update_unix'],
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
    invalid: [
      [null, 'result, time_last_update_unix, base_code, rates'],
      [{ conversion_rates: 1 }, 'rates'],
    ],
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
    invalid: [
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
    invalid: [
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
    ...SMALL_JSON,
    body: fawazahmed0Body(NOW),
    redirectHosts: ['cdn.jsdelivr.net', 'latest.currency-api.pages.dev', 'currency-api.pages.dev'],
    invalid: [
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
    fetch({ url }) {
      const [start = '', end = ''] = url.split('/').at(-1)?.split('..') ?? []
      return new Response(frankfurterPayload({ start, end, now: NOW }))
    },
    maxBytes: 4 * MIB,
    redirectHosts: ['api.frankfurter.dev', 'frankfurter.dev'],
    invalid: [
      [{ amount: 100 }, 'amount'],
      [{ base: 'USD' }, 'base'],
      [{ rates: null }, 'rates'],
      [{ rates: [{ USD: 1.1 }] }, 'rates'],
      [{ rates: { '2026-11-09': 1.1 } }, 'day 1'],
    ],
  },
  'createFrankfurterV2Provider()': {
    create: (url) => createFrankfurterV2Provider({ url }),
    attribution: { name: 'Frankfurter', url: 'https://frankfurter.dev' },
    root: 'https://api.frankfurter.dev',
    path: '/v2/rates?base=USD',
    headers: JSON_ONLY,
    body: frankfurterV2Rows(NOW),
    invalid: [[{}, 'whole body']],
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
    invalid: [[{}, 'whole body']],
    fetch: ({ url }) => answerOfFrankfurterV2(url, NOW),
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
    fetch: bank,
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
    fetch: bank,
    maxBytes: 32 * MIB,
    redirectHosts: ['data-api.ecb.europa.eu'],
  },
}

/** Creates a good response of `feed`. */
export function good({ body }: Feed, init?: ResponseInit): Response {
  return typeof body === 'string' ? new Response(body, init) : Response.json(body, init)
}
