import * as z from 'zod/mini'

import { isCode } from '../rates/currency-code.ts'
import { unexpectedShape, pathsOf, ratesInOrder } from './payload.ts'
import type { LatestTable } from './provider.ts'
import { ratesByCode } from './rates-by-code.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Rates of an hour are there one or two minutes later. */
const PUBLICATION_DELAY_MS = 2 * MINUTE_MS

/** For how long the service is left alone where its status does not say, in ms. */
const RETRY_DELAY_MS = 15 * MINUTE_MS

/** The refusals that its documentation lists, and `app_id_inactive`, which it sends for an account that was closed. */
const REFUSALS = [
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
 * Understands an answer of `/latest.json` at `now` (ms since the Unix epoch). Its time is in seconds; the next is an hour
 * later, or where that is over in one of the hours after, so that a feed that stands still uses up no quota.
 *
 * @throws {Error} where it is a failure, against another base or of another form
 */
export function toLatestTable(
  { host, status, body, retryAfterMs }: UpstreamResponse,
  now: number,
): LatestTable {
  const refused = failure.safeParse(body)
  if (refused.success) {
    const reason = REFUSALS.find((known) => known === refused.data.message) ?? `status ${status}`
    throw new UpstreamError(`${host} refused: ${reason}`, retryAfterMs ?? RETRY_DELAY_MS)
  }
  if (status !== 200) {
    throw new UpstreamError(`${host} answered with status ${status}`, retryAfterMs)
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
