import * as z from 'zod/mini'

import { assertKnownOptions } from '../known-options.ts'
import {
  checkTable,
  pathsOf,
  ratesByCode,
  ratesInOrder,
  readWithKey,
  requireKey,
  requireKeylessRootUrl,
  unexpectedShape,
} from '../upstream/feed.ts'
import { isKnownCode } from '../upstream/known-code.ts'
import type { LatestProvider, LatestTable } from '../upstream/provider.ts'
import { UpstreamError, readJson, requireBody } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'

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
 * Creates a provider of latest rates from Open Exchange Rates: about 170 currencies against the US dollar, with metals,
 * published every hour. Needs an App ID. Some 740 requests a month; the free plan includes 1,000.
 *
 * @throws {TypeError} if `key` or `url` is invalid
 * @see https://docs.openexchangerates.org/reference/latest-json
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createOpenExchangeRatesProvider } from 'ratesmith/providers'
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
      const response = await readWithKey(key, request, readJson)
      return checkTable(toLatestTable(response, now()), previous, references)
    },
    validateStored: checkTable,
  }
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The rates of an hour are available one or two minutes later. */
const PUBLICATION_DELAY_MS = 2 * MINUTE_MS

const RETRY_DELAY_MS = 15 * MINUTE_MS

/** The documented errors, and `app_id_inactive` for closed accounts. */
const KNOWN_ERRORS = [
  'not_found',
  'missing_app_id',
  'invalid_app_id',
  'app_id_inactive',
  'not_allowed',
  'access_restricted',
  'invalid_base',
]

const payload = z.object({
  timestamp: z.number().check(z.refine((seconds) => seconds > 0)),
  base: z.literal('USD'),
  rates: ratesInOrder,
})

const failure = z.object({ error: z.literal(true), message: z.optional(z.unknown()) })

/**
 * Parses a response of `/latest.json` received at `now` (ms since the Unix epoch). Its timestamp is in seconds. The next
 * update is due after a whole number of hours and in the future, so that a feed without updates uses no extra quota.
 *
 * @throws {Error} if the response is an error, has another base or an unexpected format
 */
function toLatestTable(response: UpstreamResponse, now: number): LatestTable {
  const { host, status, body, retryAfterMs = RETRY_DELAY_MS } = response
  const failed = failure.safeParse(body)
  if (failed.success) {
    const known = KNOWN_ERRORS.find((error) => error === failed.data.message)
    const reason =
      known === undefined ? `HTTP ${status} with an unknown error` : `the error ${known}`
    throw new UpstreamError(`${host} returned ${reason}`, { status, retryAfterMs })
  }
  const parsed = payload.safeParse(requireBody(response))
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { timestamp, rates } = parsed.data
  const updatedAt = timestamp * 1_000
  const due = updatedAt + PUBLICATION_DELAY_MS
  return {
    base: 'USD',
    updatedAt,
    lateAt: due + 25 * HOUR_MS,
    nextUpdateAt: due + HOUR_MS * Math.max(1, Math.floor((now - due) / HOUR_MS) + 1),
    rates: ratesByCode(Object.entries(rates), isKnownCode),
  }
}
