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

/** At most five days in a row have no publication (Easter), so the last 14 days always have one. */
const MAX_DAYS_BACK = 14

/** The reference rates of one day. */
export interface DatedSnapshot {
  /** Table against the base of the reference rates, which it includes as 1. */
  table: RateTable
  attribution: Attribution
  /** Publication day. */
  date: Day
}

/** Returns the first day to load so that the last publication on or before `date` is included. */
export function earliestDayFor(date: Day): Day {
  return addDays(date, -MAX_DAYS_BACK)
}

/**
 * Throws for a `date` after tomorrow (UTC): in time zones east of Greenwich, tomorrow has already begun.
 *
 * @throws {RatesError} `invalid_parameter`
 */
export function assertNotFuture(date: Day, today: Day): void {
  if (date > addDays(today, 1)) throw invalidParameter('date', 'must not be after today')
}

/**
 * Returns the last reference rates published on or before `date`; `today` is the current day (UTC).
 *
 * @throws {RatesError} as `assertNotFuture` does; `no_data` without a publication in the 14 days up to `date`
 */
export function datedSnapshot(
  { history, attribution }: HistorySnapshot,
  date: Day,
  today: Day,
): DatedSnapshot {
  assertNotFuture(date, today)
  const published = newestDay(history, date)
  if (published === undefined || published < earliestDayFor(date)) {
    throw new RatesError('no_data', `No reference rates for ${date}`, { parameter: 'date' })
  }
  return { table: tableOf(history, published), attribution, date: published }
}

/**
 * Returns the upper-case code for `sent` (three letters) if it has a rate in the dated table.
 *
 * @throws {RatesError} for `parameter`: `no_data` if other days have the code, `unsupported_currency` if no day has it
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
    what: `the rates for ${date} cover`,
    covered: () => [...table.rates.keys()].sort(),
  })
  const hint = withdrawalHint(code)
  throw new RatesError('no_data', `No reference rates for ${code} on ${date}`, { parameter, hint })
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
