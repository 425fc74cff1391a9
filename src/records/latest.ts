import { invalidCurrency } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import { oldestPublication } from '../rates/carry-forward.ts'
import { crossRate } from '../rates/rate-table.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { findWithdrawn } from '../rates/withdrawn.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import { requireCode, requireKnown } from './require-code.ts'
import { toSource } from './source.ts'

/** What to say of latest rates. Codes have three letters in either case. */
export interface LatestParams<Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]> {
  /** Base currency (default `USD`). */
  base?: CurrencyCode | undefined
  /** Codes to include (default all). */
  symbols?: Symbols | undefined
  /** A question of earlier rates is a `DatedRatesParams`. */
  date?: undefined
}

/** Latest rates against one base. */
export interface LatestRates<Rates = Record<string, number>> {
  /** Code against which the rates are quoted. */
  base: string
  /** When the provider published, in ms since the Unix epoch. */
  updatedAt: number
  /** When the provider will publish next, in ms since the Unix epoch. */
  nextUpdateAt: number
  /** Units of each currency for one unit of `base`: as published, or derived to 10 significant digits. */
  rates: Rates
  /** Where the rates come from; to be shown with them. */
  source: Attribution
  /** To be shown with the rates. */
  disclaimer: string
  /**
   * When rates that are from an earlier publication were published, by code, in ms since the Unix epoch; absent where
   * all are from the same. `updatedAt` is that of the oldest rate among `base` and `symbols`.
   */
  older?: Record<string, number> | undefined
}

/** To be shown with rates. */
export const DISCLAIMER: string =
  'Mid-market reference rates for information only, not an offer to exchange currency.'

/** The codes that a table must have for `question`: withdrawn ones are left out of an answer where it has none. */
export function codesOf({
  base = 'USD',
  symbols = [],
}: Pick<LatestParams, 'base' | 'symbols'>): string[] {
  return [base, ...symbols.filter((symbol) => !findWithdrawn(symbol.toUpperCase()))]
}

/**
 * The latest-rates record that answers `question`.
 *
 * @throws {RatesError} `invalid_currency`
 */
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
  const source = toSource(attribution)
  const record = { base: from, updatedAt, nextUpdateAt, rates, source, disclaimer: DISCLAIMER }
  return older ? { ...record, older } : record
}

/** When the rates of earlier publications were published, of those that are `selected`. */
function olderTimes(
  { older = {} }: RateTable,
  selected: ReadonlySet<string>,
): Record<string, number> | undefined {
  const times = Object.entries(older)
    .filter(([code]) => selected.has(code))
    .map(([code, { updatedAt }]) => [code, updatedAt] as const)
  return times.length > 0 ? Object.fromEntries(times) : undefined
}

/** The table's codes that `symbols` names: all without any, and a withdrawn one only while the table has it. */
function selectCodes(table: RateTable, symbols: readonly string[]): ReadonlySet<string> {
  if (symbols.length === 0) return new Set(table.rates.keys())
  const selected = new Set<string>()
  for (const symbol of symbols) {
    const code = symbol.toUpperCase()
    if (table.rates.has(code)) selected.add(code)
    else if (!findWithdrawn(code)) {
      requireKnown(table, code)
      throw invalidCurrency('symbols', symbol)
    }
  }
  return selected
}
