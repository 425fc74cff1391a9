import { assertKnownOptions } from '../known-options.ts'
import { readJsonWithKey, requireKey, requireKeylessRootUrl } from './key.ts'
import { toLatestTable } from './open-exchange-rates-table.ts'
import type { LatestProvider } from './provider.ts'
import { runSanityChecks } from './sanity-checks.ts'

/** Options of `createOpenExchangeRatesProvider`. */
export interface OpenExchangeRatesOptions {
  /** App ID of your account; sent only to Open Exchange Rates, in a header. */
  key: string
  /** Root of the API, to which `/latest.json` is appended (default `https://openexchangerates.org/api`). */
  url?: string | undefined
}

/** Real responses have about 4 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['openexchangerates.org', 'www.openexchangerates.org'],
}

/**
 * Creates a provider of latest rates from Open Exchange Rates: about 170 currencies against the US dollar, published every
 * hour. Needs an App ID. Sends one request an hour, about 740 a month; the free plan includes 1,000.
 *
 * @throws {TypeError} if `key` or `url` is invalid
 * @see https://docs.openexchangerates.org/reference/latest-json
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createOpenExchangeRatesProvider } from 'ratesmith/providers/open-exchange-rates'
 *
 * const latest = createOpenExchangeRatesProvider({ key: '0123456789abcdef' })
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function createOpenExchangeRatesProvider(options: OpenExchangeRatesOptions): LatestProvider {
  const { url = 'https://openexchangerates.org/api' } = options
  assertKnownOptions(options, { key: true, url })
  const key = requireKey(options.key)
  const tableUrl = `${requireKeylessRootUrl(url, key)}/latest.json`
  const headers = { authorization: `Token ${key}` }
  return {
    attribution: { name: 'Open Exchange Rates', url: 'https://openexchangerates.org' },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const request = { fetch, signal, now, url: tableUrl, headers, ...LIMITS }
      const response = await readJsonWithKey(key, request)
      return runSanityChecks(toLatestTable(response, now()), previous, references)
    },
    validateStored: runSanityChecks,
  }
}
