import { assertKnownOptions } from '../known-options.ts'
import { isCode } from '../rates/currency-code.ts'
import { toLatestTable } from './exchange-rate-api-v6-table.ts'
import { readJsonWithKey, requireKey, requireKeylessRootUrl } from './key.ts'
import type { LatestProvider } from './provider.ts'
import { runSanityChecks } from './sanity-checks.ts'

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
 * Creates a provider of latest rates from ExchangeRate-API: about 160 currencies, published every day, hour or five
 * minutes, depending on your plan. Needs an API key. The terms allow caching and forbid redistribution.
 *
 * @throws {TypeError} if `key`, `url` or `base` is invalid
 * @see https://www.exchangerate-api.com/docs/standard-requests
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createExchangeRateApiV6Provider } from 'ratesmith/providers/exchange-rate-api-v6'
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
      const response = await readJsonWithKey(key, request)
      return runSanityChecks(toLatestTable(response, base), previous, references)
    },
    validateStored: runSanityChecks,
  }
}
