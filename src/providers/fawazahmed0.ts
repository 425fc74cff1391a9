import * as z from 'zod/mini'

import { assertKnownOptions } from '../known-options.ts'
import { DAY_MS, isDay, toDay, toInstant } from '../rates/dates.ts'
import { RejectedError } from '../rates/validate.ts'
import { fetchFromAny } from '../upstream/addresses.ts'
import {
  checkTable,
  pathsOf,
  ratesByCode,
  ratesInOrder,
  requireRootUrl,
  unexpectedShape,
} from '../upstream/feed.ts'
import { isKnownCode } from '../upstream/known-code.ts'
import type { LatestProvider, LatestTable, ProviderContext } from '../upstream/provider.ts'
import { readJson, requireBody } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'

/** Options of `createFawazahmed0Provider`. */
export interface Fawazahmed0Options {
  /**
   * Roots of identical copies, to each of which `/currencies/usd.min.json` is appended. The next one gets a request when
   * the one before fails or has not responded for 2 s (default jsDelivr, then Cloudflare Pages).
   */
  urls?: readonly string[] | undefined
}

const COPIES = [
  'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@latest/v1',
  'https://latest.currency-api.pages.dev/v1',
]

/** Real responses have about 10 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['cdn.jsdelivr.net', 'latest.currency-api.pages.dev', 'currency-api.pages.dev'],
}

/** Leaves the second copy 3 of the 5 s of a call. */
const HEDGE_DELAY_MS = 2_000

/**
 * Creates a provider of latest rates from fawazahmed0/exchange-api: about 170 currencies, with metals and withdrawn ones,
 * without cryptocurrencies, published once a day in the public domain (CC0). Needs no key. A second host gets the request if
 * the first fails, takes over 2 s or is outdated.
 *
 * @throws {TypeError} if `urls` is empty or has an invalid URL
 * @see https://github.com/fawazahmed0/exchange-api
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createFawazahmed0Provider } from 'ratesmith/providers'
 *
 * const handler = createRatesHandler({ providers: { latest: createFawazahmed0Provider() } })
 * ```
 */
export function createFawazahmed0Provider(options: Fawazahmed0Options = {}): LatestProvider {
  const { urls = COPIES } = options
  assertKnownOptions(options, { urls })
  if (urls.length === 0) throw new TypeError('urls must be a non-empty array, got []')
  const tableUrls = urls.map((url) => `${requireRootUrl(url)}/currencies/usd.min.json`)
  return {
    attribution: {
      name: 'fawazahmed0/exchange-api',
      url: 'https://github.com/fawazahmed0/exchange-api',
    },
    async fetchLatest(context) {
      const addresses = tableUrls.map((url) => ({
        host: new URL(url).host,
        fetch: async ({ fetch, signal, now, previous, references }: ProviderContext) => {
          const response = await readJson({ fetch, signal, now, url, ...LIMITS })
          const table = requireNotOlder(toLatestTable(response), previous, response.host)
          return checkTable(table, previous, references)
        },
      }))
      return fetchFromAny(addresses, context, HEDGE_DELAY_MS)
    },
    validateStored: checkTable,
  }
}

function requireNotOlder(
  table: LatestTable,
  previous: LatestTable | undefined,
  host: string,
): LatestTable {
  const current = previous?.publishedAt ?? previous?.updatedAt
  if (current === undefined || table.updatedAt >= current) return table
  throw new RejectedError(
    `${host} has rates of ${toDay(table.updatedAt)}, older than ${toDay(current)}`,
  )
}

const payload = z.object({
  date: z.string().check(z.refine(isDay)),
  usd: ratesInOrder,
})

/**
 * Parses a response of `/currencies/usd.min.json`, which has lower-case codes; cryptocurrencies are left out.
 *
 * @throws {Error} if the status is not 200 or the format is unexpected
 */
function toLatestTable(response: UpstreamResponse): LatestTable {
  const parsed = payload.safeParse(requireBody(response))
  if (!parsed.success) throw unexpectedShape(response.host, pathsOf(parsed.error))
  const { date, usd } = parsed.data
  const entries = Object.entries(usd).map(([code, rate]) => [code.toUpperCase(), rate] as const)
  const updatedAt = toInstant(date)
  return {
    base: 'USD',
    updatedAt,
    nextUpdateAt: updatedAt + DAY_MS,
    rates: ratesByCode(entries, isKnownCode),
  }
}
