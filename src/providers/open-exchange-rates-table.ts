import * as z from 'zod/mini'

import { isCode } from '../rates/currency-code.ts'
import { pathsOf, ratesInOrder, unexpectedShape } from './payload.ts'
import type { LatestTable } from './provider.ts'
import { ratesByCode } from './rates-by-code.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

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
export function toLatestTable(
  { host, status, body, retryAfterMs }: UpstreamResponse,
  now: number,
): LatestTable {
  const failed = failure.safeParse(body)
  if (failed.success) {
    const known = KNOWN_ERRORS.find((error) => error === failed.data.message)
    const reason =
      known === undefined ? `HTTP ${status} with an unknown error` : `the error ${known}`
    throw new UpstreamError(`${host} returned ${reason}`, retryAfterMs ?? RETRY_DELAY_MS)
  }
  if (status !== 200) {
    throw new UpstreamError(`${host} returned HTTP ${status}`, retryAfterMs)
  }
  const parsed = payload.safeParse(body)
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { timestamp, rates } = parsed.data
  const updatedAt = timestamp * 1_000
  const due = updatedAt + PUBLICATION_DELAY_MS
  return {
    base: 'USD',
    updatedAt,
    nextUpdateAt: due + HOUR_MS * Math.max(1, Math.floor((now - due) / HOUR_MS) + 1),
    rates: ratesByCode(Object.entries(rates), isCode),
  }
}
