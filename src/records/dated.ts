import { RatesError, invalidParameter } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import { addDays } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import { newestDay, ratesOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { nextPublication, publicationInstant } from '../rates/target-calendar.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import { withdrawalHint } from './require-code.ts'
import { requireEverQuoted } from './unsupported-currency.ts'

/** Days without a publication come in rows of five at the most, over Easter; so far back there surely is one. */
const MAX_DAYS_BACK = 14

/** The reference rates of one day. */
export interface DatedSnapshot {
  /** Quoted against what the reference rates are quoted against, which is among the rates as 1. */
  table: RateTable
  attribution: Attribution
  /** The day on which they were published. */
  date: Day
}

/** How far back reference rates must reach to have those that were last published on or before `date`. */
export function earliestDayFor(date: Day): Day {
  return addDays(date, -MAX_DAYS_BACK)
}

/**
 * Refuses a `date` that is after tomorrow, which is today east of Greenwich, on the day `today` (UTC).
 *
 * @throws {RatesError} `invalid_parameter`
 */
export function assertNotFuture(date: Day, today: Day): void {
  if (date > addDays(today, 1)) throw invalidParameter('date', 'not after today')
}

/**
 * The reference rates that were last published on or before `date`, on the day `today` (UTC).
 *
 * @throws {RatesError} as `refuseFuture` does; `no_data` where nothing was published yet
 */
export function datedSnapshot(
  { history, attribution }: HistorySnapshot,
  date: Day,
  today: Day,
): DatedSnapshot {
  assertNotFuture(date, today)
  const published = newestDay(history, date)
  if (published === undefined || published < earliestDayFor(date)) {
    throw new RatesError('no_data', `No reference rates of ${date}`, { parameter: 'date' })
  }
  return { table: tableOf(history, published), attribution, date: published }
}

/**
 * The code that `sent`, three letters in either case, means in the table of `dated`, which is of `snapshot`.
 *
 * @throws {RatesError} naming `parameter`: `no_data` where other days have the code, `unsupported_currency` where none has
 */
export function requireQuoted(
  { history }: HistorySnapshot,
  { table, date }: DatedSnapshot,
  parameter: string,
  sent: string,
): string {
  const code = sent.toUpperCase()
  if (table.rates.has(code)) return code
  requireEverQuoted(history, parameter, sent, {
    what: `the rates of ${date} cover`,
    covered: () => [...table.rates.keys()].sort(),
  })
  const hint = withdrawalHint(code)
  throw new RatesError('no_data', `No reference rates of ${code} on ${date}`, { parameter, hint })
}

function tableOf(history: MarketHistory, date: Day): RateTable {
  const updatedAt = publicationInstant(date)
  return {
    base: history.base,
    updatedAt,
    nextUpdateAt: nextPublication(updatedAt),
    publishedAt: updatedAt,
    rates: ratesOf(history, date),
  }
}
