import * as z from 'zod/mini'

import { DAY_MS, isDay, toInstant } from '../rates/dates.ts'
import { isKnownCode } from './known-code.ts'
import { pathsOf, ratesInOrder, unexpectedShape } from './payload.ts'
import type { LatestTable } from './provider.ts'
import { ratesByCode } from './rates-by-code.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

const payload = z.object({
  date: z.string().check(z.refine(isDay)),
  usd: ratesInOrder,
})

/**
 * Parses a response of `/currencies/usd.min.json`, which has lower-case codes; cryptocurrencies are left out.
 *
 * @throws {Error} if the status is not 200 or the format is unexpected
 */
export function toLatestTable({ host, status, body, retryAfterMs }: UpstreamResponse): LatestTable {
  if (status !== 200) {
    throw new UpstreamError(`${host} returned HTTP ${status}`, retryAfterMs)
  }
  const parsed = payload.safeParse(body)
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
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
