import { invalidAmount } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import { amountNeeded } from '../rates/amount-needed.ts'
import { oldestPublication } from '../rates/carry-forward.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import { crossRate } from '../rates/rate-table.ts'
import { exactProduct } from '../rates/rounding.ts'
import type { ByCode } from './by-code.ts'
import type { ConversionTable } from './conversion-table.ts'
import type { Conversion, ConversionParams } from './conversion.ts'
import { toSource } from './source.ts'

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
