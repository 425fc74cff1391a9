import { assertKnownOptions } from '../known-options.ts'
import { isCode } from '../rates/currency-code.ts'
import { isObject } from '../rates/validate.ts'
import {
  checkTable,
  ratesByCode,
  readWithKey,
  requireKey,
  requireKeylessRootUrl,
} from '../upstream/feed.ts'
import type { LatestProvider, LatestTable } from '../upstream/provider.ts'
import { readJson } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'
import { knownError, toLatestTable as toOpenTable } from './exchange-rate-api.ts'

/** Options of `createExchangeRateApiV6Provider`. */
export interface ExchangeRateApiV6Options {
  /** API key of your account; sent only to ExchangeRate-API, in a header. */
  key: string
  /** Root of the service, to which `/v6/latest/{base}` is appended (default `https://v6.exchangerate-api.com`). */
  url?: string | undefined
  /** Base of the fetched table, as an upper-case code; all other bases are derived from it (default `USD`). */
  base?: string | undefined
}

/** Real responses have about 3 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['v6.exchangerate-api.com', 'www.exchangerate-api.com'],
}

/**
 * Creates a provider of latest rates from ExchangeRate-API: about 160 currencies, published every day, hour or five minutes,
 * by plan. Needs an API key. The terms also forbid products with programmatic access.
 *
 * @throws {TypeError} if `key`, `url` or `base` is invalid
 * @see https://www.exchangerate-api.com/docs/standard-requests
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createExchangeRateApiV6Provider } from 'ratesmith/providers'
 *
 * const latest = createExchangeRateApiV6Provider({ key: '0123456789abcdef' })
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function createExchangeRateApiV6Provider(options: ExchangeRateApiV6Options): LatestProvider {
  const { url = 'https://v6.exchangerate-api.com', base = 'USD' } = options
  assertKnownOptions(options, { key: true, url, base })
  const key = requireKey(options.key)
  if (!isCode(base)) throw new TypeError(`base must be an upper-case code, got ${String(base)}`)
  const tableUrl = `${requireKeylessRootUrl(url, key)}/v6/latest/${base}`
  const headers = { authorization: `Bearer ${key}` }
  return {
    attribution: { name: 'ExchangeRate-API', url: 'https://www.exchangerate-api.com' },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const request = { fetch, signal, now, url: tableUrl, headers, ...LIMITS }
      const response = await readWithKey(key, request, readJson)
      return checkTable(toLatestTable(response, base), previous, references)
    },
    validateStored: checkTable,
  }
}

/**
 * Unlike in the open feed, the rates have another name, and errors can have any status.
 *
 * @throws {Error} if the response is an error, has another base or an unexpected format
 */
function toLatestTable(response: UpstreamResponse, base: string): LatestTable {
  const { 'error-type': type, conversion_rates, ...others } = Object(response.body)
  const body = {
    ...others,
    'error-type': knownError(type),
    rates: isObject(conversion_rates)
      ? ratesByCode(Object.entries(conversion_rates), isCode)
      : undefined,
  }
  return toOpenTable({ ...response, body }, base)
}
