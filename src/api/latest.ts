import type { Instant } from '../async.ts'
import { invalidCurrency } from '../errors.ts'
import { crossRate } from '../rates/arithmetic.ts'
import { findWithdrawal, minorUnitHint } from '../rates/currency-code.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import type { DateRule, Day } from '../rates/dates.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import { derivationOf, oldestPublication } from '../rates/rate-table.ts'
import type { Derivation, Rate, RateTable } from '../rates/rate-table.ts'
import type { CacheResult, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import type { DayChoice } from './parameters.ts'
import { requireCode, requireKnown, requireQuoted, tableSource, withRates } from './resolve-code.ts'
import type { DatedSnapshot, Rates } from './resolve-code.ts'

/** Parameters of a table of rates. Codes have three letters in either case, but not the form `GBp`. */
export type LatestParams<Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]> = {
  /** Base currency (default `USD`). */
  base?: CurrencyCode | undefined
  /** Codes to include (default: all). */
  symbols?: Symbols | undefined
} & DayChoice

/** Latest rates, or the reference rates of a day, against one base. */
export interface LatestRates<ByCode = Record<UppercaseCode, Rate>> {
  /** Base currency code. */
  base: UppercaseCode
  /** Day on which the rates were published, `YYYY-MM-DD`; absent for latest rates. */
  date?: Day | undefined
  /** Requested day, `YYYY-MM-DD`; absent unless a rule was requested. */
  asked?: Day | undefined
  /** Requested rule; absent if none was requested. */
  rule?: DateRule | undefined
  /**
   * When the provider published the rates, in ms since the Unix epoch.
   *
   * @remarks The time of the oldest rate among `base` and the requested symbols.
   */
  updatedAt: Instant
  /** When the provider publishes the next rates, in ms since the Unix epoch. */
  nextUpdateAt: Instant
  /** Units of each currency per unit of `base`: as published, or derived and rounded to 10 significant digits. */
  rates: ByCode
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

type TableParams = Pick<LatestParams, 'base' | 'symbols'>

/** @throws {RatesError} as `withRates` and `toLatestRates` do */
export function withLatest<Result>(
  sources: RateSources,
  params: LatestParams,
  now: () => number,
  request: RequestOptions | undefined,
  use: (found: CacheResult<Rates>, data: object) => Result,
): Result | Promise<Result> {
  // Without symbols, all other codes belong to a table, too.
  const need = { codes: () => codesOf(params), isWhole: !params.symbols?.length }
  return withRates(sources, params, need, now, request, use)
}

/** @throws {RatesError} as `withLatest` and `toLatestRates` do */
export async function latestRates(
  sources: RateSources,
  params: LatestParams,
  now: () => number,
): Promise<LatestRates> {
  return withLatest(sources, params, now, undefined, ({ value }) => toLatestRates(value, params))
}

/** Returns the codes that a table must have; responses omit withdrawn `symbols` without a rate. */
function codesOf({ base = 'USD', symbols = [] }: TableParams): string[] {
  return [base, ...symbols.filter((symbol) => !findWithdrawal(symbol.toUpperCase()))]
}

/** @throws {RatesError} `invalid_currency`, or as `requireQuoted` does */
export function toLatestRates(
  snapshot: Rates,
  { base = 'USD', symbols = [] }: TableParams,
): LatestRates {
  const { table, attribution } = snapshot
  if ('date' in snapshot) requireDated(snapshot, base, symbols)
  const from = requireCode(table, 'base', base)
  const selected = selectCodes(table, symbols)
  const rates: Record<string, number> = {}
  for (const code of table.rates.keys()) {
    if (selected.has(code)) rates[code] = crossRate(table, from, code)
  }
  const { nextUpdateAt, tableNumber } = table
  const { updatedAt } = oldestPublication(table, [from, ...(symbols.length > 0 ? selected : [])])
  const older = olderTimes(table, selected)
  const derived = derivationsIn(table, from, Object.keys(rates))
  const source = tableSource(attribution, derived)
  return {
    base: from,
    ...('date' in snapshot && { date: snapshot.date, ...snapshot.byRule }),
    updatedAt,
    nextUpdateAt,
    rates,
    source,
    disclaimer: DISCLAIMER,
    ...(older && { older }),
    ...(tableNumber !== undefined && { tableNumber }),
    ...(derived && { derived }),
  }
}

/** @throws {RatesError} as `requireQuoted` does */
function requireDated(dated: DatedSnapshot, base: string, symbols: readonly string[]): void {
  requireQuoted(dated, 'base', base)
  for (const symbol of symbols) {
    // As with latest rates, a withdrawn currency must not break working clients.
    if (!isWithdrawnBy(dated.date, symbol)) requireQuoted(dated, 'symbols', symbol)
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
      throw invalidCurrency('symbols', symbol, minorUnitHint(symbol) ?? 'see /v1/currencies')
    }
  }
  return selected
}

function isWithdrawnBy(date: Day, sent: string): boolean {
  const withdrawal = findWithdrawal(sent.toUpperCase())
  return withdrawal !== undefined && withdrawal.withdrawnAt <= date
}
