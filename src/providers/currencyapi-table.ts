import * as z from 'zod/mini'

import { DAY_MS } from '../rates/dates.ts'
import { isKnownCode } from './known-code.ts'
import { pathsOf, unexpectedBase, unexpectedShape } from './payload.ts'
import type { LatestTable } from './provider.ts'
import { ratesByCode } from './rates-by-code.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

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
export function toLatestTable(
  { host, status, body, retryAfterMs }: UpstreamResponse,
  now: number,
): LatestTable {
  if (status !== 200) {
    throw new UpstreamError(`${host} returned HTTP ${status}`, retryAfterMs)
  }
  const parsed = payload.safeParse(body)
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { meta, data } = parsed.data
  const values = Object.entries(data).map(([code, each]) => [code, Object(each).value] as const)
  const rates = ratesByCode(values, isKnownCode)
  if (rates['USD'] !== 1) throw unexpectedBase(host, 'USD')
  const updatedAt = Date.parse(meta.last_updated_at)
  const nextRequest = (Math.floor(now / UPDATE_INTERVAL_MS) + 1) * UPDATE_INTERVAL_MS
  const nextUpdateAt = updatedAt + DAY_MS > now ? updatedAt + DAY_MS : nextRequest
  return { base: 'USD', updatedAt, nextUpdateAt, rates }
}
