import * as z from 'zod/mini'

import { assertKnownOptions } from '../known-options.ts'
import { isCode } from '../rates/currency-code.ts'
import {
  checkTable,
  pathsOf,
  ratesInOrder,
  requireRootUrl,
  unexpectedBase,
  unexpectedShape,
} from '../upstream/feed.ts'
import type { LatestProvider, LatestTable } from '../upstream/provider.ts'
import { UpstreamError, readJson, requireBody } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'

/** Options of `createExchangeRateApiProvider`. */
export interface ExchangeRateApiOptions {
  /** Root of the service, to which `/v6/latest/{base}` is appended (default `https://open.er-api.com`). */
  url?: string | undefined
  /** Base of the fetched table, as an upper-case code; all other bases are derived from it (default `USD`). */
  base?: string | undefined
}

/** Real responses have about 3 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['open.er-api.com', 'www.exchangerate-api.com'],
}

const DAY_SECONDS = 86_400

const MINUTE_MS = 60_000

/** The feed lifts a rate limit after 20 minutes. */
const RETRY_DELAY_MS_BY_ERROR: ReadonlyMap<string, number> = new Map([
  ['quota-reached', 20 * MINUTE_MS],
  ['unsupported-code', 15 * MINUTE_MS],
  ['malformed-request', 15 * MINUTE_MS],
  ['invalid-key', 15 * MINUTE_MS],
  ['inactive-account', 15 * MINUTE_MS],
  ['plan-upgrade-required', 15 * MINUTE_MS],
])

/** Returns the error `type` if it is documented, otherwise `unknown`: messages never quote other text of the feed. */
export function knownError(type: unknown): string {
  const isKnown = typeof type === 'string' && RETRY_DELAY_MS_BY_ERROR.has(type)
  return isKnown || type === 'no-data-available' ? String(type) : 'unknown'
}

/**
 * Creates a provider of latest rates from the open feed of ExchangeRate-API: about 160 currencies, published once a day
 * shortly after midnight UTC. Needs no key. The terms require attribution, allow caching and forbid redistribution.
 *
 * @throws {TypeError} if `url` or `base` is invalid
 * @see https://www.exchangerate-api.com/docs/free
 * @example
 * ```ts
 * import { createExchangeRateApiProvider, createRatesHandler } from 'ratesmith'
 *
 * const latest = createExchangeRateApiProvider({ base: 'EUR' })
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function createExchangeRateApiProvider(
  options: ExchangeRateApiOptions = {},
): LatestProvider {
  const { url = 'https://open.er-api.com', base = 'USD' } = options
  assertKnownOptions(options, { url, base })
  if (!isCode(base)) throw new TypeError(`base must be an upper-case code, got ${String(base)}`)
  const tableUrl = `${requireRootUrl(url)}/v6/latest/${base}`
  return {
    attribution: {
      name: 'Rates By Exchange Rate API',
      url: 'https://www.exchangerate-api.com',
    },
    async fetchLatest({ fetch, signal, now, previous, references }) {
      const response = await readJson({ fetch, signal, now, url: tableUrl, ...LIMITS })
      return checkTable(toLatestTable(response, base), previous, references)
    },
    validateStored: checkTable,
  }
}

const payload = z.object({
  result: z.literal('success'),
  // The feed writes 0 for a missing time, also in the next two fields.
  time_last_update_unix: z.number().check(z.refine((seconds) => seconds > 0)),
  time_next_update_unix: z.nullish(z.number()),
  time_eol_unix: z.nullish(z.number()),
  base_code: z.string(),
  rates: ratesInOrder,
})

const failure = z.object({ result: z.literal('error'), 'error-type': z.string() })

/**
 * The status is 200 also for errors; the field `result` is `success` or `error`. Times are in seconds.
 *
 * @throws {Error} if the response is an error, has another base or an unexpected format
 */
export function toLatestTable(response: UpstreamResponse, base: string): LatestTable {
  const { host, status, body } = response
  const failed = failure.safeParse(body)
  if (failed.success) {
    const type = failed.data['error-type']
    const retryAfterMs = response.retryAfterMs ?? RETRY_DELAY_MS_BY_ERROR.get(type)
    const message = `${host} returned the error ${knownError(type)}`
    throw new UpstreamError(message, { status, retryAfterMs })
  }
  const parsed = payload.safeParse(requireBody(response))
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { base_code, rates, time_last_update_unix, time_next_update_unix, time_eol_unix } =
    parsed.data
  if (base_code !== base) throw unexpectedBase(host, base)
  const nextUpdate = time_next_update_unix || time_last_update_unix + DAY_SECONDS
  return {
    base,
    updatedAt: time_last_update_unix * 1_000,
    nextUpdateAt: nextUpdate * 1_000,
    rates,
    ...(time_eol_unix ? { endsAt: time_eol_unix * 1_000 } : {}),
  }
}
