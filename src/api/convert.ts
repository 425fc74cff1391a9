import type { Instant } from '../async.ts'
import { invalidAmount } from '../errors.ts'
import { amountNeeded, crossRate, exactProduct } from '../rates/arithmetic.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import { toDay } from '../rates/dates.ts'
import type { DateRule, Day } from '../rates/dates.ts'
import type { CurrencyCode, KnownCurrencyCode } from '../rates/iso-4217.ts'
import { derivationOf, oldestPublication } from '../rates/rate-table.ts'
import type { Amount, Derivation, Rate, RateTable } from '../rates/rate-table.ts'
import type { CacheResult, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import type { ConversionParams, Targets } from './parameter-types.ts'
import { originOf, requireCode, requireQuoted, toSource, withRates } from './resolve-code.ts'
import type { Rates } from './resolve-code.ts'
import { roundResult } from './rounded.ts'

/** Rate and result for one target currency, here called `to`. */
export interface ConvertedAmount {
  /** Units of `to` per unit of `from`, as published or derived to 10 significant digits. */
  rate: Rate
  /** `rate` with the markup of a quote, to 10 significant digits, which takes its place in the result; absent without a markup. */
  quotedRate?: Rate
  /**
   * Exact decimal product of `amount` and `rate`, rounded once to the nearest double. With `reverse`, their exact quotient,
   * rounded to 15 significant digits.
   */
  result: Amount
  /**
   * The exact result rounded to the minor unit of its currency, or with `cash` to the smallest amount in cash, half away from
   * zero: a decimal with the currency's digits. Absent unless requested.
   */
  rounded?: AmountText
  /**
   * Where the rate comes from, if it is not in the publication of the source; otherwise absent. The name of the source of one
   * conversion ends with it in parentheses.
   */
  derived?: Derivation
}

/** @internal A decimal with the digits of its currency, such as `12.50`. */
type AmountText = string

/** What conversions to one and to several currencies have in common. */
interface ConversionFields {
  /** Source currency code. */
  from: UppercaseCode
  /** Requested amount, in `from`; with `reverse`, in `to`. */
  amount: Amount
  /** True if `amount` is in `to` and the result in `from`; otherwise absent. */
  reverse?: true
  /** Day on which the rates were published, `YYYY-MM-DD`; absent for latest rates. */
  date?: Day
  /** Requested day, `YYYY-MM-DD`; absent unless a rule was requested. */
  asked?: Day
  /** Requested rule; absent if none was requested. */
  rule?: DateRule
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

/** A converted amount with the time and source of its rate. */
export interface Conversion extends ConversionFields, ConvertedAmount {
  /** Target currency code. */
  to: UppercaseCode
  /** The rate of every source of reference rates, in order of preference; absent unless requested. */
  sources?: SourceRate[]
}

/** One amount converted to several currencies. */
export interface ConversionList<
  Results = Record<UppercaseCode, ConvertedAmount>,
> extends ConversionFields {
  /** Results by target currency code, in the order of the request. */
  results: Results
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

/** What a quote adds to its conversion. */
interface QuoteFields {
  /** Markup on the rates, in percent, such as `1.5`; absent without one. */
  markup?: string
  /** Unique id of the quote: store it with what was paid, so that a quote is used only once. */
  jti: string
  /** Until when the quote holds, in ms since the Unix epoch. */
  expiresAt: Instant
  /** The quote itself: a compact JWS, at most 1,024 characters. */
  quote: string
}

/** A conversion to one currency that holds until it expires. */
export interface QuotedConversion extends Conversion, QuoteFields {}

/** Conversions to several currencies that hold until they expire. */
export interface QuotedConversionList<Results = Record<UppercaseCode, ConvertedAmount>>
  extends ConversionList<Results>, QuoteFields {}

/** A conversion that holds until it expires: `QuotedConversion` for a code, `QuotedConversionList` for an array. */
export type Quote<To extends Targets = Targets> = To extends readonly CurrencyCode[]
  ? QuotedConversionList<ByCode<To, ConvertedAmount>>
  : QuotedConversion

/** The result for a target: `Conversion` for a code, `ConversionList` for an array. */
export type ConversionResult<To extends Targets = Targets> = To extends readonly CurrencyCode[]
  ? ConversionList<ByCode<To, ConvertedAmount>>
  : Conversion

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

/** @throws {RatesError} as `withRates` and `toConversion` do */
export function withConversion<Result>(
  sources: RateSources,
  params: ConversionParams,
  now: () => number,
  request: RequestOptions | undefined,
  use: (found: CacheResult<Rates>, data: object) => Result,
): Result | Promise<Result> {
  const { from, to } = params
  const codes = (): string[] => (typeof to === 'string' ? [from, to] : [from, ...to])
  return withRates(sources, params, { codes }, now, request, use)
}

/**
 * `toQuoted` returns the rate that takes the place of the published one (default none).
 *
 * @throws {RatesError} as `convert` does
 */
export function toConversion(
  rates: Rates,
  params: ConversionParams,
  toQuoted?: (rate: Rate) => Rate,
): ConversionResult {
  const { to: target, amount: sent = 1, reverse = false, round } = params
  const from = codeIn(rates, 'from', params.from)
  const how = { from, amount: sent, reverse, round, toQuoted }
  // Not −0.
  const amount = Number(sent) + 0
  if (typeof target === 'string') {
    const to = codeIn(rates, 'to', target)
    const converted = convert(rates, to, how)
    const { updatedAt } = oldestPublication(rates.table, [from, to])
    if (reverse || round || toQuoted || isMarked(rates.table)) {
      const pair = { from, to, amount, ...converted }
      const more = { ...(reverse && { reverse }), ...dayOf(rates) }
      return { ...pair, ...more, updatedAt, ...originOf(rates, [from, to]) }
    }
    const { rate, result } = converted
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
      const converted = convert(rates, code, how)
      const derived = derivationOf(rates.table, [from, code])
      return [code, derived ? { ...converted, derived } : converted]
    }),
  )
  const { updatedAt } = oldestPublication(rates.table, [from, ...codes])
  const list = { from, amount, results, ...(reverse && { reverse }) }
  return { ...list, ...dayOf(rates), updatedAt, ...originOf(rates, []) }
}

function isMarked({ derived, tableNumber }: RateTable): boolean {
  return derived !== undefined || tableNumber !== undefined
}

function dayOf(rates: Rates): Pick<ConversionFields, 'date' | 'asked' | 'rule'> {
  return 'date' in rates ? { date: rates.date, ...rates.byRule } : {}
}

/** @throws {RatesError} `invalid_amount` if the result is too large for a double; `invalid_parameter` if it cannot be rounded */
export function convert(
  rates: Rates,
  to: string,
  {
    from,
    amount: sent = 1,
    reverse = false,
    round,
    toQuoted,
  }: Omit<ConversionParams, 'to'> & { toQuoted?: ((rate: Rate) => Rate) | undefined },
): ConvertedAmount {
  const { table } = rates
  const amount = Number(sent) + 0
  const published = crossRate(table, from, to)
  const rate = toQuoted?.(published) ?? published
  const result = reverse ? amountNeeded(amount, rate) : exactProduct(amount, rate)
  const converted = toQuoted ? { rate: published, quotedRate: rate, result } : { rate, result }
  if (!Number.isFinite(result)) throw invalidAmount(String(sent), 'the result is too large')
  if (!round) return converted
  const day = 'date' in rates ? rates.date : toDay(table.updatedAt)
  const product = { from, to, day, amount: sent, rate, reverse }
  return { ...converted, rounded: roundResult(product, round) }
}

/** @throws {RatesError} for `parameter` */
export function codeIn(rates: Rates, parameter: string, sent: string): string {
  const code = sent.toUpperCase()
  if (rates.table.rates.has(code)) return code
  return 'date' in rates
    ? requireQuoted(rates, parameter, sent)
    : requireCode(rates.table, parameter, sent)
}
