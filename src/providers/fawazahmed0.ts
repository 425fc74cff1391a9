import { assertKnownOptions } from '../known-options.ts'
import { toDay } from '../rates/day.ts'
import { RejectedError } from '../rates/rejected-error.ts'
import { toLatestTable } from './fawazahmed0-table.ts'
import { firstSuccess } from './first-success.ts'
import { runSanityChecks } from './sanity-checks.ts'
import type { LatestProvider, LatestTable } from './provider.ts'
import { readJson } from './read-upstream.ts'
import { requireRootUrl } from './root-url.ts'

/** Options of `createFawazahmed0Provider`. */
export interface Fawazahmed0Options {
  /**
   * Roots that have the same, to each of which `/currencies/usd.min.json` is appended: the next is asked where the one
   * before fails or says nothing for two seconds (default jsDelivr's copy, then that of Cloudflare Pages).
   */
  urls?: readonly string[] | undefined
}

const COPIES = [
  'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@latest/v1',
  'https://latest.currency-api.pages.dev/v1',
]

/** The real answer has some 10 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['cdn.jsdelivr.net', 'latest.currency-api.pages.dev', 'currency-api.pages.dev'],
}

/** Of the five seconds of a call, so that the other copy has time left for an answer. */
const HEDGE_DELAY_MS = 2_000

/**
 * Latest rates of fawazahmed0/exchange-api: some 170 currencies, published once a day, in the public domain (CC0) and
 * without a key. They are served by two hosts; where the first fails, or is a day behind what is held, the other is asked.
 *
 * @throws {TypeError} where `urls` is not a list of URLs
 * @see https://github.com/fawazahmed0/exchange-api
 */
export function createFawazahmed0Provider(options: Fawazahmed0Options = {}): LatestProvider {
  const { urls = COPIES } = options
  assertKnownOptions(options, { urls })
  if (urls.length === 0) throw new TypeError('urls must have a URL at least')
  const tableUrls = urls.map((url) => `${requireRootUrl(url)}/currencies/usd.min.json`)
  return {
    attribution: {
      name: 'fawazahmed0/exchange-api',
      url: 'https://github.com/fawazahmed0/exchange-api',
    },
    async fetchLatest({ fetch, signal: whole, now, previous, references }) {
      const limits = { delay: HEDGE_DELAY_MS, signal: whole }
      return firstSuccess(tableUrls, limits, async (url, signal) => {
        const answer = await readJson({ fetch, signal, now, url, ...LIMITS })
        const table = requireNotOlder(toLatestTable(answer), previous, answer.host)
        return runSanityChecks(table, previous, references)
      })
    },
    validateStored: runSanityChecks,
  }
}

function requireNotOlder(
  table: LatestTable,
  previous: LatestTable | undefined,
  host: string,
): LatestTable {
  if (!previous || table.updatedAt >= (previous.publishedAt ?? previous.updatedAt)) return table
  throw new RejectedError(`${host} is behind: it has ${toDay(table.updatedAt)}`)
}
