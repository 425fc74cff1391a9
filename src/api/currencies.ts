import { MAX_RETRY_AFTER_SECONDS, invalidCurrency, providerUnavailable } from '../errors.ts'
import { minorUnitHint } from '../rates/currency-code.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import type { Day } from '../rates/dates.ts'
import {
  currencies,
  findCurrency,
  findWithdrawnCurrency,
  withdrawnCurrencies,
} from '../rates/iso-4217.ts'
import type { CountryCode, MinorUnits, NumericCode } from '../rates/iso-4217.ts'
import { coveredCodes, newestDay } from '../rates/market-history.ts'
import type { Rate } from '../rates/rate-table.ts'
import type { HistorySnapshot } from '../sources/history.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type {
  CacheResult,
  PublicationState,
  RateSources,
  RequestOptions,
} from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import { toCsv } from './csv.ts'
import { requireKnown, sourceOf, toSource } from './resolve-code.ts'

/** A currency and its coverage. */
export interface CurrencyCoverage {
  /** ISO 4217 code, or the feed's own code if `numeric` is null. */
  code: UppercaseCode
  /** English name; null for an unknown code of the feed. */
  name: string | null
  /** ISO 4217 numeric code; null without one. */
  numeric: NumericCode | null
  /** Digits after the decimal point; null if ISO 4217 defines none, as for metals and withdrawn currencies. */
  minorUnits: MinorUnits | null
  /** Symbol, such as `$`, which other currencies may share; null without one. */
  symbol: string | null
  /** Countries and territories where it is legal tender, by sorted ISO 3166-1 codes; Kosovo is `XK`. */
  countries: CountryCode[]
  /** Whether latest rates and conversions cover it; null while unknown. */
  latest: boolean | null
  /** Whether history covers it; null while unknown. */
  history: boolean | null
  /** Withdrawal date and successor; null for a currency in use. */
  withdrawn: CurrencyEnd | null
  /** Sources of its history, in order of preference; absent unless a provider of history declares a publication. */
  histories?: CurrencyHistory[] | undefined
}

/** The days of a currency's history from one source. */
export interface CurrencyHistory {
  /** First day, `YYYY-MM-DD`; null until all days of the currency are loaded. */
  from: Day | null
  /** Last day, `YYYY-MM-DD`; null while unknown. */
  to: Day | null
  /** Source of the rates. */
  source: Attribution
}

/** The withdrawal of a currency. */
export interface CurrencyEnd {
  /** Day from which the successor was the unit of account, `YYYY-MM-DD`. */
  at: Day
  /** Code to use instead, which may be withdrawn too. */
  successor: UppercaseCode
  /** Units of the withdrawn currency per unit of the successor, fixed by law; null without such a ratio. */
  ratio: Rate | null
}

/** The currencies of ISO 4217, withdrawn currencies, and all other codes with rates. */
export interface CurrencyList {
  /** Sorted by code. */
  currencies: CurrencyCoverage[]
}

/** The currencies and the data that cover them: undefined without data, null if disabled. */
export interface CurrencyData {
  latest: CacheResult<LatestSnapshot> | null | undefined
  history: CacheResult<HistorySnapshot> | null | undefined
  /** Set where a provider declares its publication. */
  publications?: readonly PublicationState[] | undefined
}

/** Loads both data sets in parallel; a failure gives undefined instead of an error. */
export async function loadCurrencyData(
  sources: RateSources,
  request?: RequestOptions,
): Promise<CurrencyData> {
  const state = sources.state()
  const [latest, history] = await Promise.all([
    state.latest && orUndefined(async () => sources.latest(request)),
    state.history &&
      orUndefined(async () => sources.history({ codes: [] }, request, (found) => found)),
    sources.loadPublications(),
  ])
  const publications = sources.isAnyDeclared ? sources.state().publications : undefined
  return { latest, history, publications }
}

async function orUndefined<Value>(load: () => Promise<Value>): Promise<Value | undefined> {
  return load().catch(() => undefined)
}

/**
 * @throws {RatesError} for an unknown code of `symbols` (default all): `invalid_currency`, or `provider_unavailable` while data
 * are missing that may have it
 */
export function toCurrencyList(
  data: CurrencyData,
  today: Day,
  symbols: readonly string[] = [],
): CurrencyList {
  const latest = data.latest && data.latest.value
  const history = data.history && data.history.value
  const fallback = latest?.fallback?.()?.value.table.rates ?? new Map<string, number>()
  const none = new Set<string>()
  const inLatest =
    latest === null ? none : latest && new Set([...latest.table.rates.keys(), ...fallback.keys()])
  const inHistory = history === null ? none : history && coveredBy(history, today)
  const wide = data.publications && widerHistory(data.publications, today)
  const codes = new Set([
    ...[...currencies, ...withdrawnCurrencies].map(({ code }) => code),
    ...(inLatest ?? []),
    ...(inHistory ?? []),
    ...(wide?.histories.keys() ?? []),
  ])
  const selected = new Set(selectCodes(codes, symbols, data))
  return {
    currencies: [...selected].sort().map((code) => ({
      ...describe(code),
      latest: inLatest?.has(code) ?? null,
      history: wide ? wide.isCovered(code) : (inHistory?.has(code) ?? null),
      withdrawn: endOf(code),
      ...(wide && { histories: wide.histories.get(code) ?? [] }),
    })),
  }
}

function selectCodes(
  known: ReadonlySet<string>,
  symbols: readonly string[],
  { latest, history, publications = [] }: CurrencyData,
): Iterable<string> {
  if (symbols.length === 0) return known
  const isComplete = latest !== undefined && history !== undefined
  return symbols.map((symbol) => {
    const code = symbol.toUpperCase()
    if (known.has(code)) return code
    if (latest) requireKnown(latest.value.table, code)
    if (isComplete && publications.every(({ newest }) => newest.value))
      throw invalidCurrency('symbols', symbol, minorUnitHint(symbol))
    throw providerUnavailable(MAX_RETRY_AFTER_SECONDS)
  })
}

function coveredBy(
  { history, newest, daysBack }: HistorySnapshot,
  today: Day,
): ReadonlySet<string> {
  return new Set(coveredCodes(history, newest ?? newestDay(history, today) ?? today, daysBack))
}

interface WiderHistory {
  /** Returns whether one of the publications covers `code` now; null while that is unknown. */
  isCovered(code: string): boolean | null
  histories: ReadonlyMap<string, CurrencyHistory[]>
}

function widerHistory(publications: readonly PublicationState[], today: Day): WiderHistory {
  const covered = new Set<string>()
  const histories = new Map<string, CurrencyHistory[]>()
  for (const { newest, spans } of publications) {
    if (!newest.value) continue
    const source = toSource(sourceOf(newest.value))
    for (const code of coveredBy(newest.value, today)) covered.add(code)
    for (const [code, span] of spans()) {
      histories.set(code, [...(histories.get(code) ?? []), { ...span, source }])
    }
  }
  const isComplete = publications.every(({ newest }) => newest.value)
  return { isCovered: (code) => covered.has(code) || (isComplete ? false : null), histories }
}

function describe(
  code: string,
): Omit<CurrencyCoverage, 'latest' | 'history' | 'withdrawn' | 'histories'> {
  const active = findCurrency(code)
  const { minorUnits = null, countries = [] } = active ?? {}
  const { name = null, numeric = null, symbol = null } = active ?? findWithdrawnCurrency(code) ?? {}
  return { code, name, numeric, minorUnits, symbol, countries: [...countries] }
}

function endOf(code: string): CurrencyEnd | null {
  const withdrawn = findWithdrawnCurrency(code)
  if (!withdrawn) return null
  const { withdrawnAt: at, successor, ratio } = withdrawn
  return { at, successor, ratio }
}

const CSV_HEAD =
  'code name numeric minorUnits symbol countries latest history withdrawnAt successor ratio'

/** CSV: one line per currency, with blanks between countries and empty cells for null. Omits `histories`. */
export function currenciesCsv({ currencies }: CurrencyList): string {
  const lines = currencies.map(({ code, name, numeric, minorUnits, symbol, countries, ...row }) => {
    const about = [code, name, numeric, minorUnits, symbol, countries.join(' ')]
    const { at, successor, ratio } = row.withdrawn ?? {}
    const cells = [...about, row.latest, row.history, at, successor, ratio]
    return cells.map((value) => String(value ?? ''))
  })
  return toCsv([CSV_HEAD.split(' '), ...lines])
}
