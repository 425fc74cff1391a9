import * as z from 'zod/mini'

import { DAY_MS } from '../rates/day.ts'
import { isKnownCode } from './known-code.ts'
import { unexpectedShape, pathsOf } from './payload.ts'
import type { LatestTable } from './provider.ts'
import { ratesByCode } from './rates-by-code.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

/** How often overdue rates are looked for, in ms: some hundred times a month at most, if they never come. */
const UPDATE_INTERVAL_MS = 6 * 3_600_000

/** An instant in UTC, as `2026-11-20T23:59:59Z`. */
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
 * Understands an answer of `/v3/latest` at `now` (ms since the Unix epoch): each rate is the `value` of an object, coins
 * are left out, and the base is not named, but is what is quoted at 1. The next update is a day later, or where that is
 * over at the next of four looks a day.
 *
 * @throws {Error} where it is a failure, against another base or of another form
 */
export function toLatestTable(
  { host, status, body, retryAfterMs }: UpstreamResponse,
  now: number,
): LatestTable {
  if (status !== 200) {
    throw new UpstreamError(`${host} answered with status ${status}`, retryAfterMs)
  }
  const parsed = payload.safeParse(body)
  if (!parsed.success) throw unexpectedShape(host, pathsOf(parsed.error))
  const { meta, data } = parsed.data
  const values = Object.entries(data).map(([code, each]) => [code, Object(each).value] as const)
  const rates = ratesByCode(values, isKnownCode)
  if (rates['USD'] !== 1) throw new Error(`${host} answered for another base than USD`)
  const updatedAt = Date.parse(meta.last_updated_at)
  const nextLook = (Math.floor(now / UPDATE_INTERVAL_MS) + 1) * UPDATE_INTERVAL_MS
  const nextUpdateAt = updatedAt + DAY_MS > now ? updatedAt + DAY_MS : nextLook
  return { base: 'USD', updatedAt, nextUpdateAt, rates }
}
