import { assertKnownOptions } from '../known-options.ts'
import { toLatestTable } from './currencyapi-table.ts'
import { readJsonWithKey, requireKey, requireKeylessRootUrl } from './key.ts'
import type { LatestProvider } from './provider.ts'
import { runSanityChecks } from './sanity-checks.ts'

/** Options of `createCurrencyapiProvider`. */
export interface CurrencyapiOptions {
  /** API key of your account; sent only to currencyapi, in a header. */
  key: string
  /** Root of the service, to which `/v3/latest` is appended (default `https://api.currencyapi.com`). */
  url?: string | undefined
}

/** Real responses have about 10 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['api.currencyapi.com', 'currencyapi.com'],
}

/**
 * Creates a provider of latest rates from currencyapi: about 170 currencies against the US dollar. Needs an API key. Sends
 * one request a day, because the free plan publishes once a day.
 *
 * @throws {TypeError} if `key` or `url` is invalid
 * @see https://currencyapi.com/docs/latest
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createCurrencyapiProvider } from 'ratesmith/providers/currencyapi'
 *
 * const latest = createCurrencyapiProvider({ key: 'cur_live_0123' })
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function createCurrencyapiProvider(options: CurrencyapiOptions): LatestProvider {
  const { url = 'https://api.currencyapi.com' } = options
  assertKnownOptions(options, { key: true, url })
  const key = requireKey(options.key)
  const tableUrl = `${requireKeylessRootUrl(url, key)}/v3/latest`
  return {
    attribution: { name: 'currencyapi', url: 'https://currencyapi.com' },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const request = { fetch, signal, now, url: tableUrl, headers: { apikey: key }, ...LIMITS }
      const response = await readJsonWithKey(key, request)
      return runSanityChecks(toLatestTable(response, now()), previous, references)
    },
    validateStored: runSanityChecks,
  }
}
