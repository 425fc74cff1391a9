import { assertKnownOptions } from '../known-options.ts'
import { createOperations } from './operations.ts'
import type { RatesClient } from './operations.ts'
import { createCall } from './request.ts'

export type {
  ByCode,
  Conversion,
  ConversionList,
  ConversionResult,
  ConvertedAmount,
  Quote,
  QuotedConversion,
  QuotedConversionList,
  RatesOf,
  SourceRate,
} from '../api/convert.ts'
export type { ConversionError, ManyConversions } from '../api/convert-many.ts'
export type {
  CurrencyCoverage,
  CurrencyEnd,
  CurrencyHistory,
  CurrencyList,
} from '../api/currencies.ts'
export type { HistoryList, HistoryResult, Point, RateHistory } from '../api/history.ts'
export type { LatestRates } from '../api/latest.ts'
export type {
  DayChoice,
  ConversionParams,
  ConversionRow,
  CurrenciesParams,
  HistoryParams,
  LatestParams,
  QuotedParams,
  QuotedRow,
  QuoteParams,
} from '../api/parameter-types.ts'
export type { Rounding } from '../api/rounded.ts'
export type { ReferenceSource, SourceList } from '../api/sources.ts'
export type { DataSetStatus, HistorySourceStatus, ServiceStatus } from '../api/status.ts'
export { RatesError } from '../errors.ts'
export type { RatesErrorCode, RatesErrorDetails } from '../errors.ts'
export type { Attribution } from '../upstream/provider.ts'
export type { CurrencyCode, KnownCurrencyCode } from '../rates/iso-4217.ts'
export type { DateRule, Interval, Period } from '../rates/dates.ts'
export type { Redenomination } from '../rates/currency-code.ts'
export type { HistoryStats, IntervalValue } from '../rates/series.ts'
export type { RatesOperations } from '../api/operations.ts'
export type { RatesClient } from './operations.ts'
export type { CallOptions } from './request.ts'

/** Options of `createRatesClient`. */
export interface RatesClientOptions {
  /** URL of the handler with its base path: `https://app.example/api`, or in a browser `/api`. */
  baseUrl: string
  /** Sends every request; may be a handler (default `globalThis.fetch`, looked up at each call). */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** How many times a call is retried after a 502, or a 429 or 503 with `Retry-After` (default 2). */
  retries?: number | undefined
  /**
   * API key, sent as `Authorization: Bearer` with every request, and in nothing else; visible ASCII characters (default none).
   */
  key?: string | undefined
}

/**
 * Creates a typed client for a mounted handler. It runs in browsers and on every runtime with `fetch`.
 *
 * Calls are retried after a 502, or a 429 or 503 with `Retry-After`: after that delay (at most 10 s), or else after 1 s, 2 s and
 * so on.
 *
 * @throws {TypeError} naming the invalid option
 * @example
 * ```ts
 * import { createRatesClient } from 'ratesmith/client'
 *
 * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
 * const { result } = await client.convert({ from: 'USD', to: 'EUR', amount: 100 })
 * console.log(result)
 * ```
 */
export function createRatesClient(options: RatesClientOptions): RatesClient {
  assertKnownOptions(options, { baseUrl: true, fetch: true, retries: true, key: true })
  const { baseUrl, fetch = (request) => globalThis.fetch(request), retries = 2, key } = options
  const root = requireBaseUrl(baseUrl)
  if (typeof fetch !== 'function') throw new TypeError('fetch must be a function')
  if (!(retries >= 0)) throw new TypeError(`retries must be a number >= 0, got ${retries}`)
  if (key !== undefined) requireKey(key)
  return createOperations(createCall({ root, fetch, retries, key }))
}

function requireKey(key: string): void {
  if (typeof key === 'string' && /^[!-~]+$/.test(key)) return
  // The value is secret.
  throw new TypeError('key must be a non-empty string of visible ASCII characters')
}

/** @throws {TypeError} unless it is an http(s) URL, or in a browser a path, without query, fragment and credentials */
function requireBaseUrl(baseUrl: string): string {
  const page = globalThis.location?.href
  if (/^(https?:\/)?\//i.test(baseUrl) && URL.canParse(baseUrl, page)) {
    const { href, origin, pathname } = new URL(baseUrl, page)
    if (href === origin + pathname) return href.replace(/\/+$/, '')
  }
  // The value may contain credentials.
  throw new TypeError(
    'baseUrl must be an http(s) URL, or in a browser a path, without query, fragment and credentials',
  )
}
