import {
  MAX_RETRY_AFTER_SECONDS,
  RatesError,
  escapeForMessage,
  invalidCurrency,
  invalidParameter,
  missingParameter,
  providerUnavailable,
} from '../errors.ts'
import { findSuccession, findWithdrawal, isCodeShaped } from '../rates/currency-code.ts'
import {
  DISCONTINUED_CODES,
  addDays,
  isDay,
  nextPublication,
  publicationInstant,
  toDay,
} from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { newestDay, ratesOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { RateTable } from '../rates/rate-table.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type {
  CacheResult,
  HistoryNeed,
  RateSources,
  RequestOptions,
} from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'

/** Later than every withdrawal. */
const END_OF_TIME = '9999-12-31'

/**
 * Returns the upper-case code for `sent` (three letters) if `table` has it.
 *
 * @throws {RatesError} `provider_unavailable` if the provider lists the currency without a usable rate; otherwise
 * `invalid_currency` for `parameter`, with the successor of a withdrawn currency
 */
export function requireCode(table: RateTable, parameter: string, sent: string): string {
  const code = sent.toUpperCase()
  if (table.rates.has(code)) return code
  requireKnown(table, code)
  throw invalidCurrency(parameter, sent, withdrawalHint(code))
}

/**
 * Throws if the provider lists `code` without a usable rate, which is not the client's error.
 *
 * @throws {RatesError} `provider_unavailable`
 */
export function requireKnown({ unavailable }: RateTable, code: string): void {
  if (unavailable?.includes(code)) throw providerUnavailable(MAX_RETRY_AFTER_SECONDS)
}

/** Returns the withdrawal date, successor and ratio of a withdrawn `code` as a sentence. */
export function withdrawalHint(code: string): string | undefined {
  const withdrawn = findWithdrawal(code)
  const succession = findSuccession(code, END_OF_TIME)
  if (!withdrawn || !succession) return undefined
  const { successor, ratio } = succession
  const between =
    withdrawn.successor === successor ? '' : ` for ${withdrawn.successor}, also withdrawn`
  return `withdrawn on ${withdrawn.withdrawnAt}${between}, use ${successor}${fixedRatio(code, successor, ratio)}`
}

function fixedRatio(code: string, successor: string, ratio: number | null): string {
  if (ratio === null) return ''
  // A currency worth more than its successor is easier to read inverted, if the inverse is a whole number.
  return ratio < 1 && Number.isInteger(1 / ratio)
    ? `, 1 ${code} = ${1 / ratio} ${successor}`
    : `, 1 ${successor} = ${ratio} ${code}`
}

/** Keeps an error body below 1 KiB. */
const MAX_LISTED = 150

/**
 * Returns the upper-case code for `sent` (three letters) if reference rates ever included it. The result must not depend on
 * the range of cached days.
 *
 * @throws {RatesError} `unsupported_currency` for `parameter`, with the `covered` codes
 */
export function requireEverQuoted(
  { base, columns }: MarketHistory,
  parameter: string,
  sent: string,
  { what, covered }: { what: string; covered: () => readonly string[] },
): string {
  const code = sent.toUpperCase()
  if (code === base || columns.has(code) || DISCONTINUED_CODES.has(code)) return code
  throw unsupportedCurrency(parameter, sent, what, covered())
}

/** Creates the error for a code without reference rates; echoes `sent` and lists the `covered` codes after `what`. */
export function unsupportedCurrency(
  parameter: string,
  sent: string,
  what: string,
  covered: readonly string[],
): RatesError {
  const more = covered.length > MAX_LISTED ? ` and ${covered.length - MAX_LISTED} more` : ''
  const coverage = `${what} ${covered.slice(0, MAX_LISTED).join(', ')}${more}`
  const withdrawal = withdrawalHint(sent.toUpperCase())
  return new RatesError(
    'unsupported_currency',
    `Unsupported ${parameter} currency: ${escapeForMessage(sent)}`,
    { parameter, hint: withdrawal === undefined ? coverage : `${withdrawal}; ${coverage}` },
  )
}

/** At most five days in a row have no publication (Easter), so the last 14 days always have one. */
const MAX_DAYS_BACK = 14

/** The reference rates of one day. */
export interface DatedSnapshot {
  /** Table against the base of the reference rates, which it includes as 1. */
  table: RateTable
  attribution: Attribution
  /** Publication day. */
  date: Day
  /** The history with that day. */
  history: MarketHistory
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
  return { table: tableOf(history, published), attribution, date: published, history }
}

/**
 * Returns the upper-case code for `sent` (three letters) if it has a rate in the dated table.
 *
 * @throws {RatesError} for `parameter`: `no_data` if other days have the code, `unsupported_currency` if no day has it
 */
export function requireQuoted(
  { table, date, history }: DatedSnapshot,
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
    ...(history.priced && { priced: history.priced }),
  }
}

/** Returns the public fields of an attribution; the object of a provider may have private ones. */
export function toSource({ name, url }: Attribution): Attribution {
  return { name, url }
}

/** The reference rates of a day that an operation needs. */
export interface DayNeed extends Pick<HistoryNeed, 'codes' | 'isWhole'> {
  date: Day
}

/**
 * Returns the result of `use`, called with the last reference rates published on or before a day; `now` returns the time in
 * ms since the Unix epoch.
 *
 * @throws {RatesError} as `datedSnapshot` and `use` do
 */
export async function withDay<Result>(
  sources: RateSources,
  { date, codes, isWhole }: DayNeed,
  now: () => number,
  request: RequestOptions | undefined,
  use: (found: CacheResult<DatedSnapshot>) => Result,
): Promise<Result> {
  const today = toDay(now())
  assertNotFuture(date, today)
  const need = { since: earliestDayFor(date), until: date, codes, isWhole }
  return sources.history(need, request, ({ value, ...how }) =>
    use({ ...how, value: datedSnapshot(value, date, today) }),
  )
}

/**
 * Checks that `code` has the form of a currency code.
 *
 * @throws {RatesError} `missing_parameter`, `invalid_currency`
 */
export function assertCode(parameter: string, code: string | undefined): void {
  if (code === undefined) throw missingParameter(parameter)
  if (!isCodeShaped(code)) throw invalidCurrency(parameter, String(code))
}

/**
 * Checks one code, or a list of at least one.
 *
 * @throws {RatesError} `missing_parameter`, `invalid_currency`
 */
export function assertCodes(parameter: string, codes: unknown): void {
  if (codes === undefined) throw missingParameter(parameter)
  const list: readonly unknown[] = Array.isArray(codes) ? codes : [codes]
  if (list.length === 0) throw invalidCurrency(parameter, '')
  for (const code of list) if (!isCodeShaped(code)) throw invalidCurrency(parameter, String(code))
}

/**
 * Checks that `date` is a calendar day.
 *
 * @throws {RatesError} `invalid_parameter`
 */
export function assertDay(parameter: string, date: unknown): void {
  if (typeof date === 'string' && isDay(date)) return
  throw invalidParameter(parameter, 'must be YYYY-MM-DD')
}
