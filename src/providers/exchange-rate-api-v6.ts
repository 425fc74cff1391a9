import { assertKnownOptions } from '../known-options.ts'
import { isCode } from '../rates/currency-code.ts'
import { toLatestTable } from './exchange-rate-api-v6-table.ts'
import { readJsonWithKey, requireKey, requireKeylessRootUrl } from './key.ts'
import { runSanityChecks } from './sanity-checks.ts'
import type { LatestProvider } from './provider.ts'

/** Options of `createExchangeRateApiV6Provider`. */
export interface ExchangeRateApiV6Options {
  /** The key of your account, sent in a header and told to nobody else. */
  key: string
  /** Root of the service, to which `/v6/latest/{base}` is appended (default `https://v6.exchangerate-api.com`). */
  url?: string | undefined
  /** Upper-case code of the table that is fetched, and from which every other base is derived (default `USD`). */
  base?: string | undefined
}

/** The real answer has some 3 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['v6.exchangerate-api.com', 'www.exchangerate-api.com'],
}

/**
 * Latest rates of ExchangeRate-API with a key: some 160 currencies, published every day, hour or five minutes, as your
 * plan has it. Its terms allow caching and forbid redistribution.
 *
 * @throws {TypeError} where `key` cannot be sent, `url` is not a URL or `base` is not an upper-case code
 * @see https://www.exchangerate-api.com/docs/standard-requests
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
      const read = { fetch, signal, now, url: tableUrl, headers, ...LIMITS }
      const answer = await readJsonWithKey(key, read)
      return runSanityChecks(toLatestTable(answer, base), previous, references)
    },
    validateStored: runSanityChecks,
  }
}
