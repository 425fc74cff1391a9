import { DAY_MS } from '../rates/day.ts'
import { nextPublication, publicationInstant } from '../rates/target-calendar.ts'
import { unexpectedShape } from './payload.ts'
import type { Attribution, HistoryDay, HistoryDays, LatestTable } from './provider.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

/** Who is named for reference rates that the bank itself has answered, in whatever format. */
export const EUROPEAN_CENTRAL_BANK: Attribution = {
  name: 'European Central Bank',
  url: 'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html',
}

/**
 * What `read` makes of an answer of the bank.
 *
 * @throws {Error} where it is a failure, or of a form that `read` throws at
 */
export async function asRejection<Body, Result>(
  { host, status, body, retryAfterMs }: UpstreamResponse<Body>,
  read: (body: Body) => Result | Promise<Result>,
): Promise<Result> {
  if (status !== 200) {
    throw new UpstreamError(`${host} answered with status ${status}`, retryAfterMs)
  }
  try {
    return await read(body)
  } catch (error) {
    throw unexpectedShape(host, [error instanceof Error ? error.message : String(error)])
  }
}

/** Those of `days` that were asked for, against the euro. */
export function toHistoryDays(
  days: readonly HistoryDay[],
  { start, end }: { start: string; end: string },
): HistoryDays {
  return { base: 'EUR', days: days.filter(({ date }) => date >= start && date <= end) }
}

/**
 * The rates of the one day of `days` as latest rates, with the clock at `now` (ms since the Unix epoch). They count as
 * published at 16:00 in Frankfurt, or now: the bank may be some minutes early.
 *
 * @throws {Error} where there is another number of days, or the day is ahead of the clock
 */
export function toLatestTable(days: readonly HistoryDay[], now: number): LatestTable {
  const [day, ...others] = days
  if (!day || others.length > 0) throw new Error(`there are ${days.length} days, not 1`)
  const due = publicationInstant(day.date)
  // Clocks differ, but no clock is so far behind that it would be a day of the future.
  if (due > now + DAY_MS) throw new Error(`the rates of ${day.date} are ahead of the clock`)
  return {
    base: 'EUR',
    updatedAt: Math.min(due, now),
    nextUpdateAt: nextPublication(due),
    rates: { EUR: 1, ...day.rates },
  }
}
