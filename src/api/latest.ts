import type { Instant } from '../async.ts'
import { invalidCurrency, invalidParameter } from '../errors.ts'
import { crossRate } from '../rates/arithmetic.ts'
import { findWithdrawal } from '../rates/currency-code.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import type { DateRule, Day } from '../rates/dates.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import { derivationOf, oldestPublication } from '../rates/rate-table.ts'
import type { Derivation, Rate, RateTable } from '../rates/rate-table.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { HistoryNeed, RateSources } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import { MISTAKEN_TABLE_NAMES, assertNoMistakenNames } from './mistaken-names.ts'
import {
  assertCode,
  assertDated,
  assertDayChoice,
  requireCode,
  requireKnown,
  requireQuoted,
  tableSource,
  withDay,
} from './resolve-code.ts'
import type { DatedSnapshot } from './resolve-code.ts'

/** Parameters of latest rates. Codes have three letters in either case. */
export interface LatestParams<Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]> {
  /** Base currency (default `USD`). */
  base?: CurrencyCode | undefined
  /** Codes to include (default: all). */
  symbols?: Symbols | undefined
  /** Absent for latest rates; see `DatedRatesParams`. */
  date?: undefined
  /** Not allowed without a day; see `DatedRatesParams`. */
  rule?: undefined
  /** Not allowed without a day; see `DatedRatesParams`. */
  maxAge?: undefined
  /** Not allowed without a day; see `DatedRatesParams`. */
  source?: undefined
}

/** Latest rates against one base. */
export interface LatestRates<Rates = Record<UppercaseCode, Rate>> {
  /** Base currency code. */
  base: UppercaseCode
  /**
   * When the provider published the rates, in ms since the Unix epoch.
   *
   * @remarks The time of the oldest rate among `base` and the requested symbols.
   */
  updatedAt: Instant
  /** When the provider publishes the next rates, in ms since the Unix epoch. */
  nextUpdateAt: Instant
  /** Units of each currency per unit of `base`: as published, or derived and rounded to 10 significant digits. */
  rates: Rates
  /** Source of the rates; show it next to them. */
  source: Attribution
  /** Text to display with the rates. */
  disclaimer: string
  /**
   * Publication times of rates from an earlier publication, by code, in ms since the Unix epoch; absent if all rates are
   * from the same publication.
   */
  older?: Record<UppercaseCode, Instant> | undefined
  /** Number of the bank's table, such as `041/A/NBP/2026`; absent if it has none. */
  tableNumber?: string | undefined
  /** Where rates come from that are not in the publication of the source, by code; absent if all are. */
  derived?: Record<UppercaseCode, Derivation> | undefined
}

export const DISCLAIMER: string =
  'Mid-market reference rates for information only, not an offer to exchange currency.'

/** @throws {RatesError} `invalid_parameter`, `invalid_currency` */
function assertTableParams(params: LatestParams | DatedRatesParams): void {
  const { base, symbols = [] } = params
  assertNoMistakenNames(params, MISTAKEN_TABLE_NAMES)
  if (base !== undefined) assertCode('base', base)
  if (!Array.isArray(symbols)) throw invalidParameter('symbols', 'must be an array of codes')
  for (const symbol of symbols) assertCode('symbols', symbol)
  assertDayChoice(params)
  assertDated(params)
}

/** @throws {RatesError} as `assertTableParams`, `toLatestRates` and `withDay` do */
export async function latestRates(
  sources: RateSources,
  params: LatestParams | DatedRatesParams,
  now: () => number,
): Promise<LatestRates | DatedRates> {
  assertTableParams(params)
  const { date, rule, maxAge, source } = params
  if (date !== undefined) {
    const need = { date, rule, maxAge, source, ...datedNeed(params) }
    return withDay(sources, need, now, undefined, ({ value }) => toDatedRates(value, params))
  }
  return toLatestRates((await sources.latest(undefined, () => codesOf(params))).value, params)
}

/** Returns the codes that a table must have; responses omit withdrawn `symbols` without a rate. */
export function codesOf({
  base = 'USD',
  symbols = [],
}: Pick<LatestParams, 'base' | 'symbols'>): string[] {
  return [base, ...symbols.filter((symbol) => !findWithdrawal(symbol.toUpperCase()))]
}

/** Returns the codes that a table of a day must have; without `symbols`, all others belong to it, too. */
export function datedNeed(
  params: Pick<LatestParams, 'base' | 'symbols'>,
): Pick<HistoryNeed, 'codes' | 'isWhole'> {
  return { codes: codesOf(params), isWhole: !params.symbols?.length }
}

/** @throws {RatesError} `invalid_currency` */
export function toLatestRates(
  { table, attribution }: LatestSnapshot,
  { base = 'USD', symbols = [] }: Pick<LatestParams, 'base' | 'symbols'>,
): LatestRates {
  const from = requireCode(table, 'base', base)
  const selected = selectCodes(table, symbols)
  const rates: Record<string, number> = {}
  for (const code of table.rates.keys()) {
    if (selected.has(code)) rates[code] = crossRate(table, from, code)
  }
  const { nextUpdateAt } = table
  const { updatedAt } = oldestPublication(table, [from, ...(symbols.length > 0 ? selected : [])])
  const older = olderTimes(table, selected)
  const derived = derivationsIn(table, from, Object.keys(rates))
  const source = tableSource(attribution, derived)
  const record = { base: from, updatedAt, nextUpdateAt, rates, source, disclaimer: DISCLAIMER }
  const { tableNumber } = table
  return {
    ...record,
    ...(older && { older }),
    ...(tableNumber !== undefined && { tableNumber }),
    ...(derived && { derived }),
  }
}

function derivationsIn(
  table: RateTable,
  base: string,
  codes: readonly string[],
): Record<string, Derivation> | undefined {
  if (!table.derived) return undefined
  const derived: Record<string, Derivation> = {}
  for (const code of codes) {
    const found = code === base ? undefined : derivationOf(table, [base, code])
    if (found) derived[code] = found
  }
  return Object.keys(derived).length > 0 ? derived : undefined
}

function olderTimes(
  { older = {} }: RateTable,
  selected: ReadonlySet<string>,
): Record<string, number> | undefined {
  const times = Object.entries(older)
    .filter(([code]) => selected.has(code))
    .map(([code, { updatedAt }]) => [code, updatedAt] as const)
  return times.length > 0 ? Object.fromEntries(times) : undefined
}

// No symbols select all codes; withdrawn symbols without a rate are omitted.
function selectCodes(table: RateTable, symbols: readonly string[]): ReadonlySet<string> {
  if (symbols.length === 0) return new Set(table.rates.keys())
  const selected = new Set<string>()
  for (const symbol of symbols) {
    const code = symbol.toUpperCase()
    if (table.rates.has(code)) selected.add(code)
    else if (!findWithdrawal(code)) {
      requireKnown(table, code)
      throw invalidCurrency('symbols', symbol)
    }
  }
  return selected
}

/** Parameters of the rates of an earlier day. Codes have three letters in either case. */
export interface DatedRatesParams<
  Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[],
> extends Omit<LatestParams<Symbols>, 'date' | 'rule' | 'maxAge' | 'source'> {
  /** Day of the rates, `YYYY-MM-DD`, since 1999-01-04; without a publication on that day, the last published day before. */
  date: string
  /** Which published day has the rates for `date` (default `on-or-before`). */
  rule?: DateRule | undefined
  /**
   * Largest age of the rates on `date`, in days from 0 to 36,600; for `period-end`, on the last day of the month (default
   * any).
   */
  maxAge?: number | undefined
  /** Id of the source of the rates, as in `/v1/sources` (default the first with the currencies). */
  source?: string | undefined
}

/** Parameters of the rates of an earlier day by a rule. */
export interface RuledRatesParams<
  Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[],
> extends DatedRatesParams<Symbols> {
  /** Which published day has the rates for `date`. */
  rule: DateRule
}

/** Reference rates of one day against one base. */
export interface DatedRates<Rates = Record<UppercaseCode, Rate>> extends Omit<
  LatestRates<Rates>,
  'older'
> {
  /** Day on which the rates were published, `YYYY-MM-DD`. */
  date: Day
  /** Requested day, `YYYY-MM-DD`; absent unless a rule was requested. */
  asked?: Day | undefined
  /** Requested rule; absent if none was requested. */
  rule?: DateRule | undefined
}

/** Reference rates of one day, found by a rule, against one base. */
export interface RuledRates<Rates = Record<UppercaseCode, Rate>> extends DatedRates<Rates> {
  /** Requested day, `YYYY-MM-DD`. */
  asked: Day
  /** Requested rule. */
  rule: DateRule
}

/** @throws {RatesError} as `requireQuoted` does */
export function toDatedRates(
  dated: DatedSnapshot,
  { base = 'USD', symbols = [] }: Pick<LatestParams, 'base' | 'symbols'>,
): DatedRates {
  requireQuoted(dated, 'base', base)
  for (const symbol of symbols) {
    // As with latest rates, a withdrawn currency must not break working clients.
    if (!isWithdrawnBy(dated.date, symbol)) requireQuoted(dated, 'symbols', symbol)
  }
  const { base: code, ...rest } = toLatestRates(dated, { base, symbols })
  return { base: code, date: dated.date, ...dated.byRule, ...rest }
}

function isWithdrawnBy(date: Day, sent: string): boolean {
  const withdrawal = findWithdrawal(sent.toUpperCase())
  return withdrawal !== undefined && withdrawal.withdrawnAt <= date
}
