import * as z from 'zod/mini'

import { assertKnownOptions } from '../known-options.ts'
import { DAY_MS } from '../rates/dates.ts'
import {
  checkTable,
  pathsOf,
  ratesByCode,
  readWithKey,
  requireKey,
  requireKeylessRootUrl,
  unexpectedBase,
  unexpectedShape,
} from '../upstream/feed.ts'
import { isKnownCode } from '../upstream/known-code.ts'
import type { LatestProvider, LatestTable } from '../upstream/provider.ts'
import { readJson, requireBody } from '../upstream/request.ts'
import type { UpstreamResponse } from '../upstream/request.ts'

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
 * Creates a provider of latest rates from currencyapi: about 170 currencies against the US dollar, with metals, published
 * once a day on the free plan. Needs an API key. Sends one request a day.
 *
 * @throws {TypeError} if `key` or `url` is invalid
 * @see https://currencyapi.com/docs/latest
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createCurrencyapiProvider } from 'ratesmith/providers'
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
      const response = await readWithKey(key, request, readJson)
      return checkTable(toLatestTable(response, now()), previous, references)
    },
    validateStored: checkTable,
  }
}

/** Interval between requests for overdue rates: about 120 a month, if they never arrive. */
const UPDATE_INTERVAL_MS = 6 * 3_600_000

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

const payload = z.object({
  meta: z.object({
    last_updated_at: z
      .string()
      .check(z.refine((text) => INSTANT.test(text) && !Number.isNaN(Date.parse(text)))),
  }),
  data: z.record(z.string(), z.unknown()),
})

/**
 * Parses a response of `/v3/latest` received at `now` (ms since the Unix epoch). Each rate is the `value` of an object;
 * cryptocurrencies are left out. The base is not named: it is the currency quoted at 1. The next update is due a day after
 * the last one, or, if overdue, at the next of four times a day.
 *
 * @throws {Error} if the response is an error, has another base or an unexpected format
 */
function toLatestTable(response: UpstreamResponse, now: number): LatestTable {
  const { host } = response
  const parsed = payload.safeParse(requireBody(response))
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { meta, data } = parsed.data
  const values = Object.entries(data).map(([code, each]) => [code, Object(each).value] as const)
  const rates = ratesByCode(values, isKnownCode)
  if (rates['USD'] !== 1) throw unexpectedBase(host, 'USD')
  const updatedAt = Date.parse(meta.last_updated_at)
  const nextRequest = (Math.floor(now / UPDATE_INTERVAL_MS) + 1) * UPDATE_INTERVAL_MS
  const nextUpdateAt = updatedAt + DAY_MS > now ? updatedAt + DAY_MS : nextRequest
  return { base: 'USD', updatedAt, nextUpdateAt, lateAt: updatedAt + 2 * DAY_MS, rates }
}
