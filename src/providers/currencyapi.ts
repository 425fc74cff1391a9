import { assertKnownOptions } from '../known-options.ts'
import { toLatestTable } from './currencyapi-table.ts'
import { readJsonWithKey, requireKey, requireKeylessRootUrl } from './key.ts'
import { runSanityChecks } from './sanity-checks.ts'
import type { LatestProvider } from './provider.ts'

/** Options of `createCurrencyapiProvider`. */
export interface CurrencyapiOptions {
  /** The key of your account, sent in a header and told to nobody else. */
  key: string
  /** Root of the service, to which `/v3/latest` is appended (default `https://api.currencyapi.com`). */
  url?: string | undefined
}

/** The real answer has some 10 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['api.currencyapi.com', 'currencyapi.com'],
}

/**
 * Latest rates of currencyapi: some 170 currencies against the US dollar, with the key of an account. They are asked for
 * once a day, as its free plan publishes them.
 *
 * @throws {TypeError} where `key` cannot be sent or `url` is not a URL
 * @see https://currencyapi.com/docs/latest
 */
export function createCurrencyapiProvider(options: CurrencyapiOptions): LatestProvider {
  const { url = 'https://api.currencyapi.com' } = options
  assertKnownOptions(options, { key: true, url })
  const key = requireKey(options.key)
  const tableUrl = `${requireKeylessRootUrl(url, key)}/v3/latest`
  return {
    attribution: { name: 'currencyapi', url: 'https://currencyapi.com' },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const read = { fetch, signal, now, url: tableUrl, headers: { apikey: key }, ...LIMITS }
      const answer = await readJsonWithKey(key, read)
      return runSanityChecks(toLatestTable(answer, now()), previous, references)
    },
    validateStored: runSanityChecks,
  }
}
