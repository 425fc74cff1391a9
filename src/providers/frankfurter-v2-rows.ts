import { addDays, isDay, toDay, toInstant } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import type { Slices } from '../rates/slices.ts'
import { unexpectedShape } from './payload.ts'
import type { HistoryDays, LatestTable } from './provider.ts'
import type { UpstreamResponse } from './read-upstream.ts'
import { UpstreamError } from './upstream-error.ts'

/** The blend pivots on it: against any other base every rate is divided and rounded once more. */
export const PIVOT = 'USD'

const HOUR_MS = 3_600_000

/** How many rows are read before there is a pause: a few ms. */
const ROWS_PER_SLICE = 8_192

/** An older row than this before the newest is of a bank that has stopped, in days; the service looks no further back. */
const MAX_ROW_AGE_DAYS = 14

/**
 * Understands blended rates at `now` (ms since the Unix epoch). Every currency has one row, with the day of its newest
 * rate. A day ahead of UTC counts as a rate of today. Rows further ahead, and rows from more than 14 days before the
 * newest, are left out.
 *
 * @throws {Error} where it is a failure, against another base, of another form or without a day up to today
 */
export function toLatestTable(answer: UpstreamResponse, now: number): LatestTable {
  const today = toDay(now)
  const rows = rowsOf(answer)
    .map((row, index) => requireRow(row, PIVOT, { host: answer.host, index }))
    .filter(({ date }) => date <= addDays(today, 1))
  const newest = rows
    .map(({ date }) => (date < today ? date : today))
    .toSorted()
    .at(-1)
  if (newest === undefined) throw new Error(`${answer.host} answered without a day up to today`)
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
 * Understands rows of several days, with pauses. The service begins with the rows of a day before, where there are none on `start`;
 * they are dropped, and so is the euro against itself.
 *
 * @throws {Error} where it is a failure, against another base or of another form
 */
export function* toHistoryDays(
  answer: UpstreamResponse,
  { start, end }: { start: Day; end: Day },
): Slices<HistoryDays> {
  const base = 'EUR'
  const { host } = answer
  const days = new Map<Day, Record<string, number>>()
  for (const [index, row] of rowsOf(answer).entries()) {
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

/** A rate as it came: it is checked behind the provider. */
interface Row {
  date: Day
  quote: string
  rate: number
}

function rowsOf({ host, status, body, retryAfterMs }: UpstreamResponse): unknown[] {
  if (status !== 200) {
    throw new UpstreamError(`${host} answered with status ${status}`, retryAfterMs)
  }
  if (!Array.isArray(body)) throw unexpectedShape(host, ['all of it'])
  return body
}

/** By hand: a schema would copy forty thousand rows. */
function requireRow(row: unknown, base: string, where: { host: string; index: number }): Row {
  if (isRow(row, base)) return row
  throw unexpectedShape(where.host, [`row ${where.index}`])
}

function isRow(row: unknown, expected: string): row is Row {
  const { date, base, quote } = Object(row)
  return base === expected && typeof quote === 'string' && typeof date === 'string' && isDay(date)
}
