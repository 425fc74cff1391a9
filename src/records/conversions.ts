import { invalidAmount } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import { amountNeeded } from '../rates/amount-needed.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import { oldestPublication } from '../rates/carry-forward.ts'
import { crossRate } from '../rates/rate-table.ts'
import { exactProduct } from '../rates/rounding.ts'
import type { ByCode } from './by-code.ts'
import type { ConversionParams, Conversion } from './conversion.ts'
import type { ConversionTable } from './conversion-table.ts'
import { toSource } from './source.ts'

/** What to convert: into one currency or several, at the latest rates or those of a day. */
export interface ConversionListParams extends Omit<ConversionParams, 'to'> {
  /** Target currency, or several. */
  to: CurrencyCode | readonly CurrencyCode[]
  /** Day whose reference rates to convert at, or else the last ones before it; `YYYY-MM-DD` (default: the latest rates). */
  date?: string | undefined
  /** Whether `amount` is of `to`, and the result how much of `from` gives it (default false). */
  reverse?: boolean | undefined
}

/** An amount in one of several currencies. */
export interface ConvertedAmount {
  /** Units of the target currency for one unit of the source currency, as for one conversion. */
  rate: number
  /** As for one conversion. */
  result: number
}

/** One amount converted at one table: into several currencies, or in reverse. */
export interface ConversionList<Results = Record<string, ConvertedAmount>> {
  /** Code of the source currency, in capitals. */
  from: string
  /** How much was asked for: of `from`, or in reverse of each target currency. */
  amount: number
  /** By the codes of the target currencies in capitals, in the order in which they were asked for. */
  results: Results
  /** When the provider published, in ms since the Unix epoch. */
  updatedAt: number
  /** Where the rates come from; to be shown with them. */
  source: Attribution
}

/** The record that answers `Question`. */
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
 * The record that answers `question` at the rates of `rates`. `amountSent` is how an error names the amount.
 *
 * @throws {RatesError} as `requireCode` of `rates` does; `invalid_amount` where a result is beyond the doubles
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
