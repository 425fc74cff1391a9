import {
  MAX_RETRY_AFTER_SECONDS,
  RatesError,
  escapeForMessage,
  invalidCurrency,
  invalidParameter,
  providerUnavailable,
} from '../errors.ts'
import {
  END_OF_TIME,
  findSuccession,
  findWithdrawal,
  minorUnitHint,
} from '../rates/currency-code.ts'
import {
  DISCONTINUED_CODES,
  ECB_CALENDAR,
  ECB_ID,
  addDays,
  daysByRule,
  nextPublication,
  toDay,
} from '../rates/dates.ts'
import type { Calendar, DateRule, Day } from '../rates/dates.ts'
import { DayRates, rowByRule } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { derivationOf } from '../rates/rate-table.ts'
import type { CodedPublications, Derivation, Derivations, RateTable } from '../rates/rate-table.ts'
import type { HistorySnapshot } from '../sources/history.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type {
  CacheResult,
  HistoryNeed,
  RateSources,
  RequestOptions,
} from '../sources/rate-sources.ts'
import type { Attribution, DerivedAttribution } from '../upstream/provider.ts'
import type { DayChoice } from './parameter-types.ts'

/**
 * @throws {RatesError} `provider_unavailable` if the provider lists the currency without a usable rate; otherwise
 * `invalid_currency` for `parameter`, with the successor of a withdrawn currency
 */
export function requireCode(table: RateTable, parameter: string, sent: string): string {
  const code = sent.toUpperCase()
  if (table.rates.has(code)) return code
  requireKnown(table, code)
  throw invalidCurrency(
    parameter,
    sent,
    minorUnitHint(sent) ?? withdrawalHint(code) ?? 'see /v1/currencies',
  )
}

/** @throws {RatesError} `provider_unavailable`, which is not the client's error */
export function requireKnown({ unavailable }: RateTable, code: string): void {
  if (unavailable?.includes(code)) throw providerUnavailable(MAX_RETRY_AFTER_SECONDS)
}

/** Returns undefined for a currency that was not withdrawn by `day` (default ever). */
export function withdrawalHint(code: string, day: Day = END_OF_TIME): string | undefined {
  const withdrawn = findWithdrawal(code)
  const succession = findSuccession(code, END_OF_TIME)
  if (!withdrawn || !succession || withdrawn.withdrawnAt > day) return undefined
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

/** Longer lists of codes are not part of a message. */
const MAX_LISTED = 40

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
  const coverage =
    covered.length > MAX_LISTED
      ? `${what} ${covered.length} others, see /v1/currencies`
      : `${what} ${covered.join(', ')}`
  const withdrawal = minorUnitHint(sent) ?? withdrawalHint(sent.toUpperCase())
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
  /** Id of the source. */
  id: string
}

type DayParams = Extract<DayChoice, { date: string }>

/** @throws {RatesError} `invalid_parameter` for a `date` after tomorrow */
export function daysToLoad(
  { date, rule = 'on-or-before' }: DayParams,
  today: Day,
): Pick<HistoryNeed, 'since' | 'until' | 'rule'> {
  // In time zones east of Greenwich, tomorrow (UTC) has already begun.
  if (date > today && date > addDays(today, 1))
    throw invalidParameter('date', 'must not be after today')
  const { first, last } = daysByRule(date, rule, today)
  return { since: first, until: last, rule }
}

/**
 * @throws {RatesError} `no_data` for `parameter` where no published day matches the rule, a day that is not published yet may
 * match it better, or it is too old for `maxAge`
 */
export function datedSnapshot(
  snapshot: HistorySnapshot,
  params: DayParams,
  today: Day,
  parameter = 'date',
): DatedSnapshot {
  const { history, id = ECB_ID } = snapshot
  const attribution = sourceOf(snapshot)
  const row = publishedRow(snapshot, params, today, parameter)
  const date = history.dates[row] ?? ''
  const table = new DayTable(snapshot, row, date)
  const dated = { table, attribution, date, history, id }
  const { date: asked, rule } = params
  return rule ? { ...dated, byRule: { asked, rule } } : dated
}

function publishedRow(
  snapshot: HistorySnapshot,
  { date, rule = 'on-or-before', maxAge }: DayParams,
  today: Day,
  parameter: string,
): number {
  const { history, isUnknown, needed } = snapshot
  if (isUnknown) return history.dates.length - 1
  const range = daysByRule(date, rule, today, snapshot)
  const { first, last } = range
  const row = rowByRule(history, range, rule, needed)
  const published = history.dates[row]
  const isLast = rule === 'previous-business-day' || (rule === 'period-end' && last < today)
  if (published === undefined || isLast) assertNotAwaited(snapshot, date, rule)
  if (published === undefined) {
    const days = first === last ? first : `${first} to ${last}`
    const hint = rule === 'on-or-before' ? undefined : `rule=${rule} allows ${days}`
    throw noRatesFor(date, parameter, hint)
  }
  const end = last < today ? last : today
  const target = rule === 'period-end' ? end : date
  if (maxAge !== undefined && published < addDays(target, -maxAge)) {
    const hint = `the last are of ${published}, older than maxAge=${maxAge}`
    throw noRatesFor(date, parameter, hint)
  }
  return row
}

/** @throws {RatesError} `no_data` where a day that is not published yet could be the answer */
function assertNotAwaited(snapshot: HistorySnapshot, date: Day, rule: DateRule): void {
  const { awaited = '', calendar = ECB_CALENDAR } = snapshot
  const { first, last } = daysByRule(date, rule, END_OF_TIME, snapshot)
  if (awaited < first || awaited > last) return
  const due = new Date(calendar.publishedAt(awaited)).toISOString()
  throw noRatesFor(date, 'date', `those of ${awaited}, due ${due}, are not published yet`)
}

function noRatesFor(date: Day, parameter: string, hint: string | undefined): RatesError {
  return new RatesError('no_data', `No reference rates for ${date}`, { parameter, hint })
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
  const hint = withdrawalHint(code, date)
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
  readonly older?: CodedPublications

  readonly #calendar: Calendar

  constructor(snapshot: HistorySnapshot, row: number, date: Day) {
    const { history, calendar = ECB_CALENDAR, carriedTo } = snapshot
    this.#calendar = calendar
    this.base = history.base
    if (history.priced) this.priced = history.priced
    const derived = history.derived?.get(date)
    if (derived) this.derived = derived
    const tableNumber = history.tableNumbers?.get(date)
    if (tableNumber !== undefined) this.tableNumber = tableNumber
    this.updatedAt = calendar.publishedAt(date)
    this.publishedAt = this.updatedAt
    this.rates = new DayRates(history, row)
    if (carriedTo) Object.assign(this, carriedTo(row))
  }

  get nextUpdateAt(): number {
    return nextPublication(this.updatedAt, this.#calendar)
  }
}

/** The source of the days may not be that of their provider. */
export function sourceOf({
  attribution,
  servedBy,
}: Pick<HistorySnapshot, 'attribution' | 'servedBy'>): DerivedAttribution {
  return servedBy ? { ...attribution, ...servedBy } : attribution
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
  const derived = derivationOf(table, codes)
  return {
    ...(tableNumber !== undefined && { tableNumber }),
    ...(derived && { derived }),
    source: toSource(attribution, derived),
  }
}

export type Rates = LatestSnapshot | DatedSnapshot

/** The codes that rates must have, in either case. */
interface CodesNeed extends Pick<HistoryNeed, 'whole'> {
  codes(): readonly string[]
}

/**
 * Passes latest rates, or those of a day, to `use`, with the data set that they are from; at once, unless it has to be loaded.
 *
 * @throws {RatesError} as `daysToLoad`, `datedSnapshot` and `use` do
 */
export function withRates<Result>(
  sources: RateSources,
  day: DayChoice,
  { codes, whole }: CodesNeed,
  now: () => number,
  request: RequestOptions | undefined,
  use: (found: CacheResult<Rates>, data: object) => Result,
): Result | Promise<Result> {
  if (day.date === undefined) {
    const found = sources.latest(request, codes)
    return found instanceof Promise
      ? found.then((each) => use(each, each.value))
      : use(found, found.value)
  }
  const today = toDay(now())
  const need = { ...daysToLoad(day, today), codes: codes(), whole, source: day.source }
  return sources.history(need, request, ({ value, hit, ttl }) =>
    use({ value: datedSnapshot(value, day, today), hit, ttl }, value),
  )
}

/** Returns a text that is the same for all choices of the same rates; undefined for latest rates. */
export function dayKey({ date, rule, maxAge, source }: DayChoice): string | undefined {
  if ((rule ?? maxAge ?? source) === undefined) return date
  return `${date} ${rule} ${maxAge} ${source}`
}
