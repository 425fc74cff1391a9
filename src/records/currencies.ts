import { currencies, findCurrency } from '../rates/currencies.ts'
import type { Day } from '../rates/day.ts'
import { coveredCodes, newestDay } from '../rates/market-history.ts'
import { findWithdrawnCurrency, withdrawnCurrencies } from '../rates/withdrawn-currencies.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { RateSources, CacheResult, RequestOptions } from '../sources/rate-sources.ts'

/** A currency, and where there are rates for it. */
export interface CurrencyCoverage {
  /** ISO 4217 code, or the feed's own where `numeric` is null. */
  code: string
  /** English name; null for a code of the feed's that nobody knows. */
  name: string | null
  /** ISO 4217 numeric code as three digits; null where there is none. */
  numeric: string | null
  /** Digits after the decimal point; null where ISO 4217 has none, as for withdrawn currencies. */
  minorUnits: number | null
  /** Whether latest rates and conversions cover it; null while that is not known. */
  latest: boolean | null
  /** Whether history covers it; null while that is not known. */
  history: boolean | null
  /** What became of a withdrawn currency; null for one in use. */
  withdrawn: CurrencyEnd | null
}

/** The end of a currency. */
export interface CurrencyEnd {
  /** The day from which the successor was the unit of account, `YYYY-MM-DD`. */
  at: string
  /** The code to use instead; it may be withdrawn too. */
  successor: string
  /** Units of the withdrawn currency for one of the successor, fixed by law; null where there is no fixed ratio. */
  ratio: number | null
}

/** The currencies of ISO 4217, those that were withdrawn, and whatever else there are rates for. */
export interface CurrencyList {
  /** Sorted by code. */
  currencies: CurrencyCoverage[]
}

/** Returns which data cover each currency on the day `today` (UTC); undefined data are not known, null ones turned off. */
export function toCurrencyList(
  latest: LatestSnapshot | null | undefined,
  history: HistorySnapshot | null | undefined,
  today: Day,
): CurrencyList {
  const kept = latest?.fallback?.()?.value.table.rates ?? new Map<string, number>()
  const none = new Set<string>()
  const inLatest =
    latest === null ? none : latest && new Set([...latest.table.rates.keys(), ...kept.keys()])
  const inHistory =
    history === null
      ? none
      : history &&
        new Set(coveredCodes(history.history, newestDay(history.history, today) ?? today))
  const codes = new Set([
    ...[...currencies, ...withdrawnCurrencies].map(({ code }) => code),
    ...(inLatest ?? []),
    ...(inHistory ?? []),
  ])
  return {
    currencies: [...codes].sort().map((code) => ({
      ...describe(code),
      latest: inLatest?.has(code) ?? null,
      history: inHistory?.has(code) ?? null,
      withdrawn: endOf(code),
    })),
  }
}

function describe(
  code: string,
): Pick<CurrencyCoverage, 'code' | 'name' | 'numeric' | 'minorUnits'> {
  const { name = null, minorUnits = null } = findCurrency(code) ?? {}
  const withdrawn = findWithdrawnCurrency(code)
  const numeric = findCurrency(code)?.numeric ?? withdrawn?.numeric ?? null
  return { code, name: name ?? withdrawn?.name ?? null, numeric, minorUnits }
}

function endOf(code: string): CurrencyEnd | null {
  const withdrawn = findWithdrawnCurrency(code)
  if (!withdrawn) return null
  const { withdrawnAt: at, successor, ratio } = withdrawn
  return { at, successor, ratio }
}

/** Both data sets: undefined without data, null where they are turned off. */
export interface BothResults {
  latest: CacheResult<LatestSnapshot> | null | undefined
  history: CacheResult<HistorySnapshot> | null | undefined
}

/** Asks for both data sets at once, for what can be answered without them. */
export async function loadBoth(
  sources: RateSources,
  request?: RequestOptions,
): Promise<BothResults> {
  const state = sources.state()
  const [latest, history] = await Promise.all([
    state.latest && orNothing(async () => sources.latest(request)),
    state.history && orNothing(async () => sources.history(request)),
  ])
  return { latest, history }
}

async function orNothing<Value>(load: () => Promise<Value>): Promise<Value | undefined> {
  return load().catch(() => undefined)
}
