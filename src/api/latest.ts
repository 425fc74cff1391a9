import type { Instant } from '../async.ts'
import { invalidCurrency, invalidParameter, toRatesError } from '../errors.ts'
import { crossRate, percentChange } from '../rates/arithmetic.ts'
import { END_OF_TIME, findWithdrawal, minorUnitHint } from '../rates/currency-code.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import { PERIODS, addDays, periodStart, toDay } from '../rates/dates.ts'
import type { DateRule, Day } from '../rates/dates.ts'
import { derivationOf, oldestPublication } from '../rates/rate-table.ts'
import type { Derivation, Rate, RateTable } from '../rates/rate-table.ts'
import type { CacheResult, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import { newestOf } from './history.ts'
import type { LatestParams } from './parameter-types.ts'
import {
  datedSnapshot,
  daysToLoad,
  requireCode,
  requireKnown,
  requireQuoted,
  tableSource,
  withRates,
} from './resolve-code.ts'
import type { DatedSnapshot, Rates } from './resolve-code.ts'

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
  /** Change of the reference rates of one source; absent unless requested. */
  change?:
    | {
        /** Day of the earlier rates, `YYYY-MM-DD`. */
        since: Day
        /**
         * (later / earlier − 1) × 100 of each of `rates`, rounded to 4 decimals; 0 for `base`. Without the codes that have no
         * reference rates on both days.
         */
        percent: Record<UppercaseCode, number>
      }
    | undefined
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
  const whole = params.symbols?.length ? undefined : 'day'
  const need = { codes: () => codesOf(params), whole } as const
  return withRates(sources, params, need, now, request, use)
}

/** @throws {RatesError} as `withLatest` and `toLatestRates` do */
export async function latestRates(
  sources: RateSources,
  params: LatestParams,
  now: () => number,
): Promise<LatestRates> {
  return withLatest(sources, params, now, undefined, ({ value }) =>
    withChange(sources, params, { record: toLatestRates(value, params), rates: value }, now),
  )
}

/**
 * Adds what `change` requests, by the source of dated `rates`; for latest rates, by the first source with all codes, or else
 * with the base.
 *
 * @throws {RatesError} `invalid_parameter` for a day after the newest; as `requireQuoted` does for the base; `no_data`
 * without rates for the day; as `RateSources.history` does
 */
export async function withChange(
  sources: RateSources,
  params: LatestParams,
  { record, rates }: { record: LatestRates; rates: Rates },
  now: () => number,
  request?: RequestOptions,
): Promise<LatestRates> {
  const { change } = params
  if (change === undefined) return record
  const today = toDay(now())

  async function upTo(later: DatedSnapshot, codes: readonly string[]): Promise<LatestRates> {
    for (const code of codes) requireQuoted(later, 'base', code)
    const date = changeStart(later.date, String(change))
    if (date > later.date) throw invalidParameter('change', `must not be after ${later.date}`)
    const need = { ...daysToLoad({ date }, today), codes, whole: 'day', source: later.id } as const
    return sources.history(need, request, ({ value }) => {
      const earlier = datedSnapshot(value, { date }, today, 'change')
      for (const code of codes) requireQuoted(earlier, 'base', code)
      const percent = percentOf(record, earlier.table, later.table)
      return { ...record, change: { since: earlier.date, percent } }
    })
  }

  const upToNewest = async (codes: readonly string[]): Promise<LatestRates> =>
    sources.history({ codes, whole: 'day' }, request, ({ value }) =>
      upTo(datedSnapshot(value, { date: newestOf(value, today) }, today), codes),
    )

  if ('date' in rates) return upTo(rates, [record.base])
  const codes = codesOf(params)
  return upToNewest(codes).catch((error: unknown) => {
    const { code } = toRatesError(error)
    if (code !== 'unsupported_currency' && code !== 'no_data') throw error
    return upToNewest([record.base])
  })
}

function changeStart(end: Day, change: string): Day {
  if (change === '1D') return addDays(end, -1)
  const period = PERIODS.find((each) => each === change)
  return period ? periodStart(end, period) : change
}

function percentOf(
  { base, rates }: LatestRates,
  earlier: RateTable,
  later: RateTable,
): Record<string, number> {
  const both = Object.keys(rates).filter((code) => earlier.rates.has(code) && later.rates.has(code))
  return Object.fromEntries(
    both.map((code) => [
      code,
      percentChange(crossRate(earlier, base, code), crossRate(later, base, code)),
    ]),
  )
}

/** Returns the codes that a table must have; responses omit `symbols` without a rate that were withdrawn by its day. */
function codesOf({ base = 'USD', symbols = [], date = END_OF_TIME }: LatestParams): string[] {
  return [base, ...symbols.filter((symbol) => !isWithdrawnBy(date, symbol))]
}

/** @throws {RatesError} `invalid_currency`, or as `requireQuoted` does */
export function toLatestRates(
  snapshot: Rates,
  { base = 'USD', symbols = [] }: TableParams,
): LatestRates {
  const { table, attribution } = snapshot
  const { from, selected } = selectRates(snapshot, { base, symbols })
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

/** @throws {RatesError} `invalid_currency`, or as `requireQuoted` does */
export function selectRates(
  snapshot: Rates,
  { base = 'USD', symbols = [] }: TableParams,
): { from: string; selected: ReadonlySet<string> } {
  const { table } = snapshot
  if ('date' in snapshot) requireDated(snapshot, base, symbols)
  return { from: requireCode(table, 'base', base), selected: selectCodes(table, symbols) }
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
