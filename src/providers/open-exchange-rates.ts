import { assertKnownOptions } from '../known-options.ts'
import { readJsonWithKey, requireKey, requireKeylessRootUrl } from './key.ts'
import { runSanityChecks } from './sanity-checks.ts'
import { toLatestTable } from './open-exchange-rates-table.ts'
import type { LatestProvider } from './provider.ts'

/** Options of `createOpenExchangeRatesProvider`. */
export interface OpenExchangeRatesOptions {
  /** The App ID of your account, sent in a header and told to nobody else. */
  key: string
  /** Root of the API, to which `/latest.json` is appended (default `https://openexchangerates.org/api`). */
  url?: string | undefined
}

/** The real answer has some 4 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['openexchangerates.org', 'www.openexchangerates.org'],
}

/**
 * Latest rates of Open Exchange Rates: some 170 currencies against the US dollar, published every hour, with the App ID of
 * an account. It is asked once an hour, some 740 times a month: its free plan has 1,000.
 *
 * @throws {TypeError} where `key` cannot be sent or `url` is not a URL
 * @see https://docs.openexchangerates.org/reference/latest-json
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
      const read = { fetch, signal, now, url: tableUrl, headers, ...LIMITS }
      const answer = await readJsonWithKey(key, read)
      return runSanityChecks(toLatestTable(answer, now()), previous, references)
    },
    validateStored: runSanityChecks,
  }
}
