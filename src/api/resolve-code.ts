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
  DATE_RULES,
  DISCONTINUED_CODES,
  ECB_CALENDAR,
  addDays,
  daysByRule,
  isDay,
  nextPublication,
  targetDay,
  toDay,
} from '../rates/dates.ts'
import type { Calendar, DateRule, Day } from '../rates/dates.ts'
import { DayRates, rowByRule } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { derivationOf } from '../rates/rate-table.ts'
import type { Derivation, Derivations, RateTable } from '../rates/rate-table.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type {
  CacheResult,
  HistoryNeed,
  RateSources,
  RequestOptions,
} from '../sources/rate-sources.ts'
import type { Attribution, DerivedAttribution } from '../upstream/provider.ts'

const END_OF_TIME = '9999-12-31'

/**
 * @throws {RatesError} `provider_unavailable` if the provider lists the currency without a usable rate; otherwise
 * `invalid_currency` for `parameter`, with the successor of a withdrawn currency
 */
export function requireCode(table: RateTable, parameter: string, sent: string): string {
  const code = sent.toUpperCase()
  if (table.rates.has(code)) return code
  requireKnown(table, code)
  throw invalidCurrency(parameter, sent, withdrawalHint(code))
}

/** @throws {RatesError} `provider_unavailable`, which is not the client's error */
export function requireKnown({ unavailable }: RateTable, code: string): void {
  if (unavailable?.includes(code)) throw providerUnavailable(MAX_RETRY_AFTER_SECONDS)
}

export function withdrawalHint(code: string): string | undefined {
  const withdrawn = findWithdrawal(code)
  const succession = findSuccession(code, END_OF_TIME)
  if (!withdrawn || !succession) return undefined
  const { successor, ratio } = succession
  const between =
    withdrawn.successor === successor ? '' : ` for ${withdrawn.successor}, also withdrawn`
  return `withdrawn on ${withdrawn.withdrawnAt}${between}, use ${successor}${fixedRatioText(code, successor, ratio)}`
}

export function fixedRatioText(code: string, successor: string, ratio: number | null): string {
  if (ratio === null) return ''
  // A currency worth more than its successor is easier to read inverted, if the inverse is a whole number.
  return ratio < 1 && Number.isInteger(1 / ratio)
    ? `, 1 ${code} = ${1 / ratio} ${successor}`
    : `, 1 ${successor} = ${ratio} ${code}`
}

/** Keeps an error body below 1 KiB. */
const MAX_LISTED = 150

/**
 * The result must not depend on the range of cached days.
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

export interface DatedSnapshot {
  /** Table against the base of the reference rates, which it includes as 1. */
  table: RateTable
  attribution: Attribution
  date: Day
  /** The requested day and rule; absent without a rule. */
  byRule?: { asked: Day; rule: DateRule }
  history: MarketHistory
}

/**
 * In time zones east of Greenwich, tomorrow (UTC) has already begun.
 *
 * @throws {RatesError} `invalid_parameter`
 */
function assertNotFuture(date: Day, today: Day): void {
  if (date > today && date > addDays(today, 1))
    throw invalidParameter('date', 'must not be after today')
}

/** Largest `maxAge`, in days. */
export const MAX_AGE_LIMIT = 36_600

export interface DayParams {
  date: Day
  /** Default `on-or-before`. */
  rule?: DateRule | undefined
  /** Largest age of the rates on that day, in days (default any). */
  maxAge?: number | undefined
  /** The only source of the rates, by its id (default the first with the currencies). */
  source?: string | undefined
}

/** @throws {RatesError} `invalid_parameter` for a `date` after tomorrow */
export function daysToLoad(
  { date, rule = 'on-or-before' }: DayParams,
  today: Day,
): Pick<HistoryNeed, 'since' | 'until' | 'isFirst'> {
  assertNotFuture(date, today)
  const { first, last } = daysByRule(date, rule, today)
  return { since: first, until: last, isFirst: rule === 'next' }
}

/**
 * @throws {RatesError} as `daysToLoad` does; `no_data` where no published day matches the rule, or it is too old for
 * `maxAge`
 */
export function datedSnapshot(
  snapshot: HistorySnapshot,
  params: DayParams,
  today: Day,
): DatedSnapshot {
  const { history, attribution } = snapshot
  const row = publishedRow(snapshot, params, today)
  const date = history.dates[row] ?? ''
  const table = new DayTable(snapshot, row, date)
  const dated = { table, attribution, date, history }
  const { date: asked, rule } = params
  return rule ? { ...dated, byRule: { asked, rule } } : dated
}

function publishedRow(
  { history, daysBack, isUnknown }: HistorySnapshot,
  { date, rule = 'on-or-before', maxAge }: DayParams,
  today: Day,
): number {
  assertNotFuture(date, today)
  if (isUnknown) return history.dates.length - 1
  const range = daysByRule(date, rule, today, daysBack)
  const row = rowByRule(history, range, rule)
  const published = history.dates[row]
  if (published === undefined) {
    const { first, last } = range
    const days = first === last ? first : `${first} to ${last}`
    throw noRatesFor(date, rule === 'on-or-before' ? undefined : `rule=${rule} allows ${days}`)
  }
  if (maxAge !== undefined && published < addDays(targetDay(date, rule, today), -maxAge)) {
    throw noRatesFor(date, `the last are of ${published}, older than maxAge=${maxAge}`)
  }
  return row
}

function noRatesFor(date: Day, hint: string | undefined): RatesError {
  return new RatesError('no_data', `No reference rates for ${date}`, { parameter: 'date', hint })
}

/** @throws {RatesError} for `parameter`: `no_data` if other days have the code, `unsupported_currency` if no day has it */
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

/** The reference rates of one row. A class, because a getter of an object literal takes longer than a conversion. */
class DayTable implements RateTable {
  readonly base: string
  readonly updatedAt: number
  readonly publishedAt: number
  readonly rates: RateTable['rates']
  readonly priced?: ReadonlySet<string>
  readonly derived?: Derivations
  readonly tableNumber?: string

  readonly #calendar: Calendar

  constructor({ history, calendar = ECB_CALENDAR }: HistorySnapshot, row: number, date: Day) {
    this.#calendar = calendar
    this.base = history.base
    if (history.priced) this.priced = history.priced
    if (history.derived) this.derived = history.derived
    const tableNumber = history.tableNumbers?.get(date)
    if (tableNumber !== undefined) this.tableNumber = tableNumber
    this.updatedAt = calendar.publishedAt(date)
    this.publishedAt = this.updatedAt
    this.rates = new DayRates(history, row)
  }

  get nextUpdateAt(): number {
    return nextPublication(this.updatedAt, this.#calendar)
  }
}

/** A provider's object may have private fields. The name says where a rate outside the publication comes from. */
export function toSource(attribution: DerivedAttribution, derived?: Derivation): Attribution {
  const { overlay = attribution } = attribution
  const { name, url } = derived === 'overlay' ? overlay : attribution
  return derived === undefined ? { name, url } : { name: `${name} (${derived})`, url }
}

export function tableSource(
  attribution: DerivedAttribution,
  derived: Derivations = {},
): Attribution {
  const { name, url } = attribution
  const { overlay } = attribution
  if (!overlay || !Object.values(derived).includes('overlay')) return { name, url }
  return { name: `${name}, with rates of ${overlay.name}`, url }
}

interface Origin {
  tableNumber?: string
  derived?: Derivation
  source: Attribution
}

export function originOf(
  { table, attribution }: { table: RateTable; attribution: Attribution },
  codes: readonly string[],
): Origin {
  const { tableNumber } = table
  const derived = derivedIn(table, codes)
  return {
    ...(tableNumber !== undefined && { tableNumber }),
    ...derived,
    source: toSource(attribution, derived.derived),
  }
}

export function derivedIn(
  table: { readonly derived?: Derivations | undefined },
  codes: readonly string[],
): { derived?: Derivation } {
  const derived = derivationOf(table, codes)
  return derived === undefined ? {} : { derived }
}

export interface DayNeed extends DayParams, Pick<HistoryNeed, 'codes' | 'isWhole'> {}

/** @throws {RatesError} as `datedSnapshot` and `use` do */
export function withDay<Result>(
  sources: RateSources,
  params: DayNeed,
  now: () => number,
  request: RequestOptions | undefined,
  use: (found: CacheResult<DatedSnapshot>) => Result,
): Result | Promise<Result> {
  const today = toDay(now())
  const { codes, isWhole, source } = params
  const need = { ...daysToLoad(params, today), codes, isWhole, source }
  return sources.history(need, request, ({ value, hit, ttl }) =>
    use({ value: datedSnapshot(value, params, today), hit, ttl }),
  )
}

/** @throws {RatesError} `missing_parameter`, `invalid_currency` */
export function assertCode(parameter: string, code: string | undefined): void {
  if (code === undefined) throw missingParameter(parameter)
  if (!isCodeShaped(code)) throw invalidCurrency(parameter, String(code))
}

/** @throws {RatesError} `missing_parameter`, `invalid_currency` */
export function assertCodes(parameter: string, codes: unknown): void {
  if (codes === undefined) throw missingParameter(parameter)
  const list: readonly unknown[] = Array.isArray(codes) ? codes : [codes]
  if (list.length === 0) throw invalidCurrency(parameter, '')
  for (const code of list) if (!isCodeShaped(code)) throw invalidCurrency(parameter, String(code))
}

/** @throws {RatesError} `invalid_parameter` */
export function assertDay(parameter: string, date: unknown): void {
  if (typeof date === 'string' && isDay(date)) return
  throw invalidParameter(parameter, 'must be YYYY-MM-DD')
}

type DayChoice = Omit<DayParams, 'date'> & { date?: Day | undefined }

/** @throws {RatesError} `invalid_parameter` */
export function assertDayChoice(params: DayChoice): void {
  const { date, rule, maxAge, source } = params
  if (date !== undefined) assertDay('date', date)
  assertSource(source)
  if (rule !== undefined && !DATE_RULES.includes(rule)) throw invalidRule('rule')
  const isAge = Number.isInteger(maxAge) && Number(maxAge) >= 0 && Number(maxAge) <= MAX_AGE_LIMIT
  if (maxAge !== undefined && !isAge) throw invalidMaxAge('maxAge')
}

/** @throws {RatesError} `invalid_parameter` */
export function assertDated({ date, ...choice }: DayChoice): void {
  if (date !== undefined) return
  const { rule, maxAge, source } = choice
  const [given] = Object.entries({ rule, maxAge, source }).filter(([, each]) => each !== undefined)
  if (given) throw invalidParameter(given[0], 'requires date')
}

export const SOURCE_FORM: RegExp = /^[a-z\d-]{1,64}$/

/** @throws {RatesError} `invalid_parameter` */
export function assertSource(source: unknown): void {
  const isId = typeof source === 'string' && SOURCE_FORM.test(source)
  if (source !== undefined && !isId) throw invalidSource('source')
}

export function invalidSource(parameter: string): RatesError {
  return invalidParameter(parameter, 'must be the id of a source, such as ecb')
}

export function invalidRule(parameter: string): RatesError {
  const rules = DATE_RULES.join(', ').replace(/, (?=[^,]*$)/, ' or ')
  return invalidParameter(parameter, `must be ${rules}`)
}

export function invalidMaxAge(parameter: string): RatesError {
  return invalidParameter(parameter, `must be a whole number of days, 0 to ${MAX_AGE_LIMIT}`)
}
