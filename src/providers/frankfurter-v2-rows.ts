import type { Slices } from '../async.ts'
import { addDays, isDay, toDay, toInstant } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { unexpectedShape } from './payload.ts'
import type { HistoryDays, LatestTable } from './provider.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

/** Pivot of the blended rates: against any other base, every rate is divided and rounded once more. */
export const PIVOT = 'USD'

const HOUR_MS = 3_600_000

/** A few ms of work. */
const ROWS_PER_SLICE = 8_192

/** The service looks no further back for the last rate of a bank that has stopped publishing. */
const MAX_ROW_AGE_DAYS = 14

/**
 * Parses blended rates received at `now` (ms since the Unix epoch). Every currency has one row, with the day of its newest
 * rate. A date of tomorrow (UTC) counts as today. Later rows, and rows more than 14 days before the newest, are left out.
 *
 * @throws {Error} if the status is not 200, the base or the format is unexpected, or all rows are later than tomorrow
 */
export function toLatestTable(response: UpstreamResponse, now: number): LatestTable {
  const { host } = response
  const today = toDay(now)
  const tomorrow = addDays(today, 1)
  const rows = rowsOf(response)
    .map((row, index) => requireRow(row, PIVOT, { host, index }))
    .filter(({ date }) => date <= tomorrow)
  const newest = rows
    .map(({ date }) => (date < today ? date : today))
    .toSorted()
    .at(-1)
  if (newest === undefined) throw new Error(`${host} returned no rates up to ${tomorrow}`)
  const oldest = addDays(newest, -MAX_ROW_AGE_DAYS)
  const kept = rows.filter(({ date }) => date >= oldest)
  return {
    base: PIVOT,
    updatedAt: toInstant(newest),
    nextUpdateAt: (Math.floor(now / HOUR_MS) + 1) * HOUR_MS,
    rates: Object.fromEntries(kept.map(({ quote, rate }) => [quote, rate])),
  }
}

/**
 * Parses rows of several days in slices. Drops the euro against itself, and the rows before `start`, with which the service
 * begins if `start` has no rates.
 *
 * @throws {Error} if the status is not 200, or the base or the format is unexpected
 */
export function* toHistoryDays(
  response: UpstreamResponse,
  { start, end }: { start: Day; end: Day },
): Slices<HistoryDays> {
  const base = 'EUR'
  const { host } = response
  const days = new Map<Day, Record<string, number>>()
  for (const [index, row] of rowsOf(response).entries()) {
    if (index % ROWS_PER_SLICE === ROWS_PER_SLICE - 1) yield
    const { date, quote, rate } = requireRow(row, base, { host, index })
    if (date < start || date > end || (quote === base && rate === 1)) continue
    const rates = days.get(date) ?? {}
    rates[quote] = rate
    days.set(date, rates)
  }
  const ascending = [...days].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return { base, days: ascending.map(([date, rates]) => ({ date, rates })) }
}

interface Row {
  date: Day
  quote: string
  rate: number
}

function rowsOf({ host, status, body, retryAfterMs }: UpstreamResponse): unknown[] {
  if (status !== 200) {
    throw new UpstreamError(`${host} returned HTTP ${status}`, retryAfterMs)
  }
  if (!Array.isArray(body)) throw unexpectedShape(host, ['whole body'])
  return body
}

/** Without a schema, which would copy 40,000 rows. */
function requireRow(row: unknown, base: string, where: { host: string; index: number }): Row {
  if (isRow(row, base)) return row
  throw unexpectedShape(where.host, [`row ${where.index}`])
}

function isRow(row: unknown, expected: string): row is Row {
  const { date, base, quote } = Object(row)
  return base === expected && typeof quote === 'string' && typeof date === 'string' && isDay(date)
}
