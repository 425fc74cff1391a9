import * as z from 'zod/mini'

import { assertKnownOptions } from '../known-options.ts'
import { isCode } from '../rates/currency-code.ts'
import { runSanityChecks } from './sanity-checks.ts'
import { unexpectedShape, pathsOf, ratesInOrder } from './payload.ts'
import type { LatestProvider, LatestTable } from './provider.ts'
import { readJson } from './read-upstream.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { requireRootUrl } from './root-url.ts'
import { UpstreamError } from './upstream-error.ts'

/** Options of `createExchangeRateApiProvider`. */
export interface ExchangeRateApiOptions {
  /** Root of the service, to which `/v6/latest/{base}` is appended (default `https://open.er-api.com`). */
  url?: string | undefined
  /** Upper-case code of the table that is fetched, and from which every other base is derived (default `USD`). */
  base?: string | undefined
}

/** The real answer has some 3 kB. */
const LIMITS = {
  maxBytes: 1024 * 1024,
  redirectHosts: ['open.er-api.com', 'www.exchangerate-api.com'],
}

const DAY_SECONDS = 86_400

const MINUTE_MS = 60_000

/** For how long the feed is left alone when it refuses so, in ms: it lifts a limit after 20 minutes. */
const RETRY_DELAY_MS_BY_ERROR: ReadonlyMap<string, number> = new Map([
  ['quota-reached', 20 * MINUTE_MS],
  ['unsupported-code', 15 * MINUTE_MS],
  ['malformed-request', 15 * MINUTE_MS],
  ['invalid-key', 15 * MINUTE_MS],
  ['inactive-account', 15 * MINUTE_MS],
  ['plan-upgrade-required', 15 * MINUTE_MS],
])

/** Returns the refusal `type` if it is documented: no other text of the feed's reaches a message. */
export function knownError(type: unknown): string {
  const isKnown = typeof type === 'string' && RETRY_DELAY_MS_BY_ERROR.has(type)
  return isKnown || type === 'no-data-available' ? String(type) : 'unknown'
}

/**
 * Latest rates of ExchangeRate-API's open feed: some 160 currencies, published once a day shortly after midnight UTC,
 * without a key. Its terms ask for attribution, allow caching and forbid redistribution.
 *
 * @throws {TypeError} where `url` is not a URL or `base` is not an upper-case code
 * @see https://www.exchangerate-api.com/docs/free
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
      const answer = await readJson({ fetch, signal, now, url: tableUrl, ...LIMITS })
      return runSanityChecks(toLatestTable(answer, base), previous, references)
    },
    validateStored: runSanityChecks,
  }
}

const payload = z.object({
  result: z.literal('success'),
  // Here and below, the feed writes 0 for a time that there is none of.
  time_last_update_unix: z.number().check(z.refine((seconds) => seconds > 0)),
  time_next_update_unix: z.nullish(z.number()),
  time_eol_unix: z.nullish(z.number()),
  base_code: z.string(),
  rates: ratesInOrder,
})

const failure = z.object({ result: z.literal('error'), 'error-type': z.string() })

/**
 * Understands an answer of `/v6/latest/{base}`. The feed says in `result` whether it succeeded, with a status of 200
 * either way; its times are seconds.
 *
 * @throws {Error} where it is a failure, another base's table or anything unknown
 */
export function toLatestTable(
  { host, status, body, retryAfterMs }: UpstreamResponse,
  base: string,
): LatestTable {
  const refused = failure.safeParse(body)
  if (refused.success) {
    const type = refused.data['error-type']
    const pause = retryAfterMs ?? RETRY_DELAY_MS_BY_ERROR.get(type)
    throw new UpstreamError(`${host} refused: ${knownError(type)}`, pause)
  }
  if (status !== 200) {
    throw new UpstreamError(`${host} answered with status ${status}`, retryAfterMs)
  }
  const parsed = payload.safeParse(body)
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { base_code, rates, time_last_update_unix, time_next_update_unix, time_eol_unix } =
    parsed.data
  if (base_code !== base) throw new Error(`${host} answered for another base than ${base}`)
  const nextUpdate = time_next_update_unix || time_last_update_unix + DAY_SECONDS
  return {
    base,
    updatedAt: time_last_update_unix * 1_000,
    nextUpdateAt: nextUpdate * 1_000,
    rates,
    ...(time_eol_unix ? { endsAt: time_eol_unix * 1_000 } : {}),
  }
}
