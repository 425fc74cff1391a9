import { nextPublication, publicationInstant } from '../rates/calendar.ts'
import { DAY_MS } from '../rates/dates.ts'
import { unexpectedShape } from './payload.ts'
import type { Attribution, HistoryDay, HistoryDays, LatestTable } from './provider.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

/** Attribution of reference rates fetched from the bank itself. */
export const EUROPEAN_CENTRAL_BANK: Attribution = {
  name: 'European Central Bank',
  url: 'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html',
}

/**
 * Parses the body of a response with `read`.
 *
 * @throws {Error} if the status is not 200, or `read` throws
 */
export async function parseBody<Body, Result>(
  { host, status, body, retryAfterMs }: UpstreamResponse<Body>,
  read: (body: Body) => Result | Promise<Result>,
): Promise<Result> {
  if (status !== 200) {
    throw new UpstreamError(`${host} returned HTTP ${status}`, retryAfterMs)
  }
  try {
    return await read(body)
  } catch (error) {
    throw unexpectedShape(host, [error instanceof Error ? error.message : String(error)])
  }
}

/** Returns the days of the range, with rates against the euro. */
export function toHistoryDays(
  days: readonly HistoryDay[],
  { start, end }: { start: string; end: string },
): HistoryDays {
  return { base: 'EUR', days: days.filter(({ date }) => date >= start && date <= end) }
}

/**
 * Converts the only day of `days` to latest rates at `now` (ms since the Unix epoch). They count as published at 16:00 in
 * Frankfurt, or at `now` if that is earlier: the bank sometimes publishes some minutes early.
 *
 * @throws {Error} if there is not exactly one day, or the day is more than 24 hours ahead of the clock
 */
export function toLatestTable(days: readonly HistoryDay[], now: number): LatestTable {
  const [day, ...others] = days
  if (!day || others.length > 0) throw new Error(`expected 1 day, got ${days.length}`)
  const due = publicationInstant(day.date)
  // Clocks differ, but by less than a day.
  if (due > now + DAY_MS) throw new Error(`${day.date} is more than 24 hours ahead of the clock`)
  return {
    base: 'EUR',
    updatedAt: Math.min(due, now),
    nextUpdateAt: nextPublication(due),
    rates: { EUR: 1, ...day.rates },
  }
}
