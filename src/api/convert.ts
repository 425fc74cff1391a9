import type { Instant } from '../async.ts'
import { invalidAmount, invalidParameter } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { amountNeeded, crossRate, exactProduct } from '../rates/arithmetic.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import type { DateRule, Day } from '../rates/dates.ts'
import type { CurrencyCode, KnownCurrencyCode } from '../rates/iso-4217.ts'
import { oldestPublication } from '../rates/rate-table.ts'
import type { Amount, Derivation, Rate, RateTable } from '../rates/rate-table.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { CacheResult, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import { MISTAKEN_CONVERSION_NAMES, assertNoMistakenNames } from './mistaken-names.ts'
import {
  assertCode,
  assertCodes,
  assertDated,
  assertDayChoice,
  derivedIn,
  originOf,
  requireCode,
  requireQuoted,
  toSource,
  withDay,
} from './resolve-code.ts'
import type { DatedSnapshot } from './resolve-code.ts'
import type { Product, RoundedAmount, Rounding } from './rounded.ts'

export type { RoundedAmount, Rounding } from './rounded.ts'

/** Parameters of a conversion. Codes have three letters in either case. */
export interface ConversionParams {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: CurrencyCode
  /** Amount of `from`, finite and not negative (default 1). */
  amount?: number | undefined
}

/** A converted amount. */
export interface ConvertedPair {
  /** Source currency code. */
  from: UppercaseCode
  /** Target currency code. */
  to: UppercaseCode
  /** Requested amount, in `from`; with `reverse`, in `to`. */
  amount: Amount
  /** Units of `to` per unit of `from`, as published or derived to 10 significant digits. */
  rate: Rate
  /**
   * Exact decimal product of `amount` and `rate`, rounded once to the nearest double. With `reverse`, their exact quotient,
   * rounded to 15 significant digits.
   */
  result: Amount
}

/** A converted amount with the time and source of its rate. */
export interface Conversion extends ConvertedPair {
  /** When the provider published the rates, in ms since the Unix epoch. */
  updatedAt: Instant
  /** Number of the bank's table, such as `041/A/NBP/2026`; absent if it has none. */
  tableNumber?: string
  /** Where the rate comes from, if it is not in the publication of the source; otherwise absent. */
  derived?: Derivation
  /** Source of the rate; show it next to the rate. Its name ends with `derived` in parentheses, if that is present. */
  source: Attribution
}

/** Parameters of a conversion to one or several currencies, at the latest rates or those of a day. */
export interface ConversionListParams extends Omit<ConversionParams, 'to'> {
  /** Target currency, or a non-empty array of them. */
  to: CurrencyCode | readonly CurrencyCode[]
  /** Day of the reference rates, `YYYY-MM-DD`; without rates on that day, the last day before (default: the latest rates). */
  date?: string | undefined
  /** Which published day has the rates for `date`, which is then required (default `on-or-before`). */
  rule?: DateRule | undefined
  /**
   * Largest age of the rates on `date`, which is then required, in days from 0 to 36,600; for `period-end`, on the last day of
   * the month (default any).
   */
  maxAge?: number | undefined
  /** Id of the source of the rates on `date`, which is then required, as in `/v1/sources` (default the first with both currencies). */
  source?: string | undefined
  /** Whether `amount` is in `to`, and `result` the amount of `from` that gives it (default false). */
  reverse?: boolean | undefined
  /** Whether to add `rounded` to each result: to the `minor` unit of its currency, or to amounts in `cash` (default neither). */
  round?: Rounding | undefined
  /** `sources` adds the rate of every source of reference rates; for one target currency only (default nothing). */
  expand?: 'sources' | undefined
}

/** The rate of a pair from one source, compared with that of a conversion. */
export interface SourceRate {
  /** Id of the source, as in `/v1/sources`. */
  id: string
  /** Source of the rate; show it next to it. */
  source: Attribution
  /** Day of the rate, `YYYY-MM-DD`; null without one. */
  date: Day | null
  /** Units of `to` per unit of `from`; null without one. */
  rate: Rate | null
  /** Deviation from the rate of the conversion, in percent, rounded to 4 decimals; null without a rate. */
  deviation: number | null
  /** Number of the bank's table; absent if it has none. */
  tableNumber?: string
  /** Where the rate comes from, if it is not in the publication of the source; otherwise absent. */
  derived?: Derivation
  /** Why `rate` is null: the source lacks a currency, has no rates on that day, or is unavailable. */
  error?: 'unsupported_currency' | 'no_data' | 'provider_unavailable' | undefined
}

/** Rate and result for one of several target currencies, here called `to`. */
export interface ConvertedAmount {
  /** Units of `to` per unit of `from`, as published or derived to 10 significant digits. */
  rate: Rate
  /**
   * Exact decimal product of `amount` and `rate`, rounded once to the nearest double. With `reverse`, their exact quotient,
   * rounded to 15 significant digits.
   */
  result: Amount
  /** Where the rate comes from, if it is not in the publication of the source; otherwise absent. */
  derived?: Derivation
}

/** One amount converted to several currencies. */
export interface ConversionList<Results = Record<UppercaseCode, ConvertedAmount>> {
  /** Source currency code. */
  from: UppercaseCode
  /** Requested amount, in `from`; with `reverse`, in `to`. */
  amount: Amount
  /** Results by target currency code, in the order of the request. */
  results: Results
  /**
   * When the provider published the rates, in ms since the Unix epoch.
   *
   * @remarks The time of the oldest rate used.
   */
  updatedAt: Instant
  /** Number of the bank's table, such as `041/A/NBP/2026`; absent if it has none. */
  tableNumber?: string
  /** Source of the rates; show it next to them. */
  source: Attribution
}

/** The response type for `Params`: `Conversion` for one target, `ConversionList` for an array. */
export type ConversionResult<Params extends ConversionListParams> = (Params['to'] extends infer To
  ? To extends readonly CurrencyCode[]
    ? ConversionList<ByCode<To, ConvertedAmount & RoundedOf<Params>>>
    : Conversion & RoundedOf<Params> & SourcesOf<Params>
  : never) &
  (Params extends { date: string }
    ? { date: string }
    : Params extends { from: unknown; date?: undefined }
      ? {}
      : {
          /** Day on which the rates were published; absent for latest rates. */
          date?: Day
        }) &
  (Params extends { rule: infer Rule extends DateRule }
    ? { asked: string; rule: Rule }
    : Params extends { from: unknown; rule?: undefined }
      ? {}
      : {
          /** Requested day; absent unless a rule was requested. */
          asked?: Day
          /** Requested rule; absent if none was requested. */
          rule?: DateRule
        }) &
  (Params extends { reverse: true }
    ? { reverse: true }
    : Params extends { from: unknown; reverse?: false | undefined }
      ? {}
      : {
          /** True if `result` is in `from`; absent unless requested. */
          reverse?: true
        })

/** @internal The field that `expand` adds to the conversion of a pair. */
type SourcesOf<Params> = Params extends { expand: 'sources' }
  ? { sources: SourceRate[] }
  : Params extends { from: unknown; expand?: undefined }
    ? {}
    : {
        /** The rate of every source of reference rates, in order of preference; absent unless requested. */
        sources?: SourceRate[]
      }

/** @internal The field that `round` adds to a result. */
type RoundedOf<Params> = Params extends { round: Rounding }
  ? RoundedAmount
  : Params extends { from: unknown; round?: undefined }
    ? {}
    : Partial<RoundedAmount>

/**
 * Values by upper-case code: `Value` for a known code, `OfUnknown` for any other literal code. Values may be undefined if
 * the type is not a tuple. An empty list, or codes of type `string`, give `Record<string, Value>`.
 */
export type ByCode<
  Codes extends readonly CurrencyCode[],
  Value,
  OfUnknown = Value,
> = string extends Codes[number]
  ? Record<string, Value>
  : Codes extends readonly []
    ? Record<string, Value>
    : number extends Codes['length']
      ? { [Code in Uppercase<Codes[number]>]: Value | undefined }
      : { [Code in Uppercase<Codes[number]>]: Code extends KnownCurrencyCode ? Value : OfUnknown }

/**
 * Rates by upper-case code for the requested `Symbols`: `number` for a known literal code, and `number | undefined` for any
 * other, because responses omit withdrawn currencies. Rates may also be undefined if the type is not a tuple. An empty
 * list, or codes of type `string`, give `Record<string, number>`.
 */
export type RatesOf<Symbols extends readonly CurrencyCode[]> = ByCode<
  Symbols,
  number,
  number | undefined
>

export type ConversionRates = LatestSnapshot | DatedSnapshot

/** @throws {RatesError} `missing_parameter`, `invalid_parameter`, `invalid_currency`, `invalid_amount` */
export function assertConversionParams(params: ConversionListParams, amountSent?: string): void {
  const { from, to, amount, reverse, round } = params
  assertNoMistakenNames(params, MISTAKEN_CONVERSION_NAMES)
  assertCode('from', from)
  assertCodes('to', to)
  if (amount !== undefined && !(Number.isFinite(amount) && amount >= 0)) {
    throw invalidAmount(amountSent ?? String(amount))
  }
  assertDayChoice(params)
  if (reverse !== undefined && typeof reverse !== 'boolean') {
    throw invalidParameter('reverse', 'must be true or false')
  }
  assertDated(params)
  if (round !== undefined && round !== 'minor' && round !== 'cash') throw invalidRounding('round')
  assertExpand(params)
}

/** @throws {RatesError} `invalid_parameter` */
export function assertExpand({ expand, to }: ConversionListParams): void {
  if (expand === undefined) return
  if (expand !== 'sources') throw invalidParameter('expand', 'must be sources')
  if (typeof to !== 'string') throw invalidParameter('expand', 'needs one target currency')
}

export function invalidRounding(parameter: string): RatesError {
  return invalidParameter(parameter, 'must be minor or cash')
}

/** @throws {RatesError} as `assertConversionParams`, `withDay` and `toConversion` do */
export async function conversion(
  sources: RateSources,
  params: ConversionListParams,
  now: () => number,
): Promise<ConversionResult<ConversionListParams>> {
  assertConversionParams(params)
  const toResult = await createConverter([params])
  return withConversionRates(sources, params, now, undefined, ({ value }) =>
    toResult(value, params),
  )
}

/** The code that rounds is loaded on demand. */
export function createConverter(
  rows: readonly unknown[],
): typeof toConversion | Promise<typeof toConversion> {
  return rows.some(isRounded) ? loadRounding() : toConversion
}

export function isRounded(row: unknown): boolean {
  const { round }: { round?: unknown } = Object(row)
  return round !== undefined
}

async function loadRounding(): Promise<typeof toConversion> {
  const { roundResult } = await import('./rounded.ts')
  return (rates, params, amountSent) => {
    const converted = toConversion(rates, params, amountSent)
    const { round } = params
    return round ? withRounded(converted, (product) => roundResult(product, round)) : converted
  }
}

function withRounded(
  conversion: ConversionResult<ConversionListParams>,
  roundResult: (product: Product) => string,
): ConversionResult<ConversionListParams> {
  const { from, amount, reverse = false } = conversion
  const round = (
    to: string,
    { rate, result, ...rest }: ConvertedAmount,
  ): ConvertedAmount & RoundedAmount => {
    const rounded = roundResult({ amount, rate, reverse, code: reverse ? from : to })
    return { rate, result, rounded, ...rest }
  }
  if ('results' in conversion) {
    const entries = Object.entries(conversion.results)
    const results = Object.fromEntries(entries.map(([to, each]) => [to, round(to, each)]))
    return { ...conversion, results }
  }
  const { to, rate, result, from: _from, amount: _amount, ...rest } = conversion
  return { from, to, amount, ...round(to, { rate, result }), ...rest }
}

export function withConversionRates<Result>(
  sources: RateSources,
  { from, to, date, rule, maxAge, source }: ConversionListParams,
  now: () => number,
  request: RequestOptions | undefined,
  use: (found: CacheResult<ConversionRates>) => Result,
): Result | Promise<Result> {
  const codes = (): string[] => (typeof to === 'string' ? [from, to] : [from, ...to])
  if (date !== undefined) {
    const need = { date, rule, maxAge, source, codes: codes() }
    return withDay(sources, need, now, request, use)
  }
  const found = sources.latest(request, codes)
  return found instanceof Promise ? found.then(use) : use(found)
}

/** @throws {RatesError} as `convert` does */
export function toConversion(
  rates: ConversionRates,
  params: ConversionListParams,
  amountSent?: string,
): ConversionResult<ConversionListParams> {
  const { to: target, amount = 1, reverse = false } = params
  const from = codeIn(rates, 'from', params.from)
  const { derived } = rates.table
  const convertTo = (to: string): ConvertedAmount =>
    convert(rates, { from, to, amount, reverse }, amountSent)
  if (typeof target === 'string') {
    const to = codeIn(rates, 'to', target)
    const { rate, result } = convertTo(to)
    const { updatedAt } = oldestPublication(rates.table, [from, to])
    if (reverse || isMarked(rates.table)) {
      const pair = { from, to, amount, rate, result, ...(reverse && { reverse }) }
      return { ...pair, ...dayOf(rates), updatedAt, ...originOf(rates, [from, to]) }
    }
    const source = toSource(rates.attribution)
    // Literals: among many conversions, objects made of other objects take longer than the arithmetic.
    if (!('date' in rates)) return { from, to, amount, rate, result, updatedAt, source }
    const { date, byRule } = rates
    if (!byRule) return { from, to, amount, rate, result, date, updatedAt, source }
    const { asked, rule } = byRule
    return { from, to, amount, rate, result, date, asked, rule, updatedAt, source }
  }
  const codes = [...new Set(target)].map((code) => codeIn(rates, 'to', code))
  const results = Object.fromEntries(
    codes.map((code) => {
      const converted = convertTo(code)
      return [code, derived ? { ...converted, ...derivedIn({ derived }, [from, code]) } : converted]
    }),
  )
  const { updatedAt } = oldestPublication(rates.table, [from, ...codes])
  const list = { from, amount, results, ...(reverse && { reverse }) }
  return { ...list, ...dayOf(rates), updatedAt, ...originOf(rates, []) }
}

function isMarked({ derived, tableNumber }: RateTable): boolean {
  return derived !== undefined || tableNumber !== undefined
}

function dayOf(
  rates: ConversionRates,
): Pick<ConversionResult<ConversionListParams>, 'date' | 'asked' | 'rule'> {
  return 'date' in rates ? { date: rates.date, ...rates.byRule } : {}
}

/** @throws {RatesError} `invalid_amount` if the result is too large for a double */
export function convert(
  { table }: ConversionRates,
  { from, to, amount, reverse }: { from: string; to: string; amount: number; reverse: boolean },
  amountSent: string = String(amount),
): ConvertedAmount {
  const rate = crossRate(table, from, to)
  const result = reverse ? amountNeeded(amount, rate) : exactProduct(amount, rate)
  if (!Number.isFinite(result)) throw invalidAmount(amountSent, 'the result is too large')
  return { rate, result }
}

/** @throws {RatesError} for `parameter` */
export function codeIn(rates: ConversionRates, parameter: string, sent: string): string {
  const code = sent.toUpperCase()
  if (rates.table.rates.has(code)) return code
  return 'date' in rates
    ? requireQuoted(rates, parameter, sent)
    : requireCode(rates.table, parameter, sent)
}
