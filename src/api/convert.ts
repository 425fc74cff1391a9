import { invalidAmount, invalidCurrency, invalidParameter, missingParameter } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import { amountNeeded, exactProduct } from '../rates/arithmetic.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import type { CurrencyCode, KnownCurrencyCode } from '../rates/currency-code.ts'
import { isDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { crossRate, oldestPublication } from '../rates/rate-table.ts'
import type { RateTable } from '../rates/rate-table.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { CacheResult, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import {
  assertNotFuture,
  datedSnapshot,
  earliestDayFor,
  requireCode,
  requireQuoted,
  toSource,
} from './resolve-code.ts'

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
  /** Source currency, upper-case code. */
  from: string
  /** Target currency, upper-case code. */
  to: string
  /** Requested amount of `from`. */
  amount: number
  /** Units of `to` per unit of `from`: as published, or derived and rounded to 10 significant digits. */
  rate: number
  /** Exact decimal product of `amount` and `rate`, rounded once to the nearest double. */
  result: number
}

/** A converted amount with the time and source of its rate. */
export interface Conversion extends ConvertedPair {
  /** Publication time of the rate, ms since the Unix epoch. */
  updatedAt: number
  /** Source of the rate; show it next to the rate. */
  source: Attribution
}

/** Returns a conversion with its source; throws as `convert` does. */
export function toConversion(
  { table, attribution }: LatestSnapshot,
  params: ConversionParams,
): Conversion {
  const conversion = convert(table, params)
  const { updatedAt } = oldestPublication(table, [conversion.from, conversion.to])
  return { ...conversion, updatedAt, source: toSource(attribution) }
}

/**
 * Converts an amount. Errors quote `amountSent`.
 *
 * @throws {RatesError} `invalid_currency`; `invalid_amount` if the result is too large for a double
 */
export function convert(
  table: RateTable,
  params: ConversionParams,
  amountSent?: string,
): ConvertedPair {
  const { amount = 1 } = params
  const from = requireCode(table, 'from', params.from)
  const to = requireCode(table, 'to', params.to)
  const rate = crossRate(table, from, to)
  const result = exactProduct(amount, rate)
  if (!Number.isFinite(result)) {
    throw invalidAmount(amountSent ?? String(amount), 'the result is too large')
  }
  return { from, to, amount, rate, result }
}

/** Parameters of a conversion to one or several currencies, at the latest rates or those of a day. */
export interface ConversionListParams extends Omit<ConversionParams, 'to'> {
  /** Target currency, or a non-empty array of them. */
  to: CurrencyCode | readonly CurrencyCode[]
  /** Day of the reference rates, `YYYY-MM-DD`; without rates on that day, the last day before (default: the latest rates). */
  date?: string | undefined
  /** Whether `amount` is in `to`, and `result` the amount of `from` that gives it (default false). */
  reverse?: boolean | undefined
}

/** A converted amount in one of several currencies. */
export interface ConvertedAmount {
  /** Units of the target currency per unit of the source currency, as in `Conversion`. */
  rate: number
  /** Exact product of amount and rate, rounded once; with `reverse`, the amount of the source currency. */
  result: number
}

/** One amount converted to several currencies. */
export interface ConversionList<Results = Record<string, ConvertedAmount>> {
  /** Source currency, upper-case code. */
  from: string
  /** Requested amount of `from`; with `reverse`, of each target currency. */
  amount: number
  /** Results by upper-case target code, in the order of the request. */
  results: Results
  /** Publication time of the oldest rate used, ms since the Unix epoch. */
  updatedAt: number
  /** Source of the rates; show it next to them. */
  source: Attribution
}

/** The response type for `Params`: `Conversion` for one target, `ConversionList` for an array. */
export type ConversionResult<Params extends ConversionListParams> = (Params['to'] extends infer To
  ? To extends readonly CurrencyCode[]
    ? ConversionList<ByCode<To, ConvertedAmount>>
    : Conversion
  : never) &
  (Params extends { date: string }
    ? { date: string }
    : Params extends { from: unknown; date?: undefined }
      ? {}
      : { date?: string }) &
  (Params extends { reverse: true }
    ? { reverse: true }
    : Params extends { from: unknown; reverse?: false | undefined }
      ? {}
      : { reverse?: true })

/**
 * Converts at the given rates. Errors quote `amountSent`.
 *
 * @throws {RatesError} as `rates.requireCode` does; `invalid_amount` if a result is too large for a double
 */
export function toConversionResult(
  rates: ConversionTable,
  params: ConversionListParams,
  amountSent?: string,
): ConversionResult<ConversionListParams> {
  const { to: target, amount = 1, reverse = false } = params
  const { table, attribution, date } = rates
  const from = rates.requireCode('from', params.from)
  const convert = (to: string): ConvertedAmount => {
    const rate = crossRate(table, from, to)
    const result = reverse ? amountNeeded(amount, rate) : exactProduct(amount, rate)
    if (Number.isFinite(result)) return { rate, result }
    throw invalidAmount(amountSent ?? String(amount), 'the result is too large')
  }
  const targets = Array.from(new Set([target].flat()), (code) => rates.requireCode('to', code))
  const end = {
    ...(reverse && { reverse }),
    ...(date !== undefined && { date }),
    updatedAt: oldestPublication(table, [from, ...targets]).updatedAt,
    source: toSource(attribution),
  }
  const [to = from] = targets
  if (typeof target === 'string') return { from, to, amount, ...convert(to), ...end }
  const results = Object.fromEntries(targets.map((to) => [to, convert(to)]))
  return { from, amount, results, ...end }
}

/** The rates for a conversion. */
export interface ConversionTable {
  table: RateTable
  attribution: Attribution
  /** Day of the rates; undefined for the latest rates. */
  date: Day | undefined
  /** Returns the upper-case code for `sent` (three letters); throws an error for `parameter` if the table lacks it. */
  requireCode(parameter: string, sent: string): string
}

/** Loads latest rates with `codes`, or the reference rates of `date`; `today` is the current day (UTC). */
export async function loadConversionTable(
  sources: RateSources,
  { codes, date, today }: { codes: readonly string[]; date: Day | undefined; today: Day },
  request?: RequestOptions,
): Promise<CacheResult<ConversionTable>> {
  if (date === undefined) {
    const { value, ...how } = await sources.latest(request, () => codes)
    const { table } = value
    const require = (parameter: string, sent: string): string => requireCode(table, parameter, sent)
    return { ...how, value: { ...value, date, requireCode: require } }
  }
  assertNotFuture(date, today)
  const { value, ...how } = await sources.history(request, earliestDayFor(date))
  const dated = datedSnapshot(value, date, today)
  const require = (parameter: string, sent: string): string =>
    requireQuoted(value, dated, parameter, sent)
  return { ...how, value: { ...dated, requireCode: require } }
}

/**
 * Converts with any parameters; expects a well-formed `from` and `amount`. `today` is the current day (UTC).
 *
 * @throws {RatesError} `missing_parameter`, `invalid_parameter`, and as `toConversionResult` does
 */
export async function convertAny(
  sources: RateSources,
  params: ConversionListParams,
  today: Day,
): Promise<ConversionResult<ConversionListParams>> {
  const { to, date, reverse } = params
  assertTargets(to)
  if (date !== undefined && !(typeof date === 'string' && isDay(date))) {
    throw invalidParameter('date', 'must be YYYY-MM-DD')
  }
  if (reverse !== undefined && typeof reverse !== 'boolean') {
    throw invalidParameter('reverse', 'must be true or false')
  }
  const codes = [params.from, to].flat()
  const { value } = await loadConversionTable(sources, { codes, date, today })
  return toConversionResult(value, params)
}

// Callers without TypeScript can pass any value.
function assertTargets(to: unknown): void {
  if (to === undefined) throw missingParameter('to')
  const codes: readonly unknown[] = Array.isArray(to) ? to : [to]
  if (codes.length === 0) throw invalidCurrency('to', '')
  for (const code of codes) if (!isCodeShaped(code)) throw invalidCurrency('to', String(code))
}

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
