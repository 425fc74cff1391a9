import { invalidAmount } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import { oldestPublication } from '../rates/carry-forward.ts'
import { crossRate } from '../rates/rate-table.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { exactProduct } from '../rates/rounding.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import { requireCode } from './require-code.ts'
import { toSource } from './source.ts'

/** What to convert. Codes have three letters in either case. */
export interface ConversionParams {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: CurrencyCode
  /** How much of `from`, finite and not negative (default 1). */
  amount?: number | undefined
}

/** A converted amount. */
export interface ConvertedPair {
  /** Code of the source currency, in capitals. */
  from: string
  /** Code of the target currency, in capitals. */
  to: string
  /** How much of `from` was asked for. */
  amount: number
  /** Units of `to` for one unit of `from`: as published, or derived to 10 significant digits. */
  rate: number
  /** The exact decimal product of `amount` and `rate`, rounded once to the nearest double. */
  result: number
}

/** A converted amount, and where its rate comes from. */
export interface Conversion extends ConvertedPair {
  /** When the provider published, in ms since the Unix epoch. */
  updatedAt: number
  /** Where the rate comes from; to be shown with it. */
  source: Attribution
}

/** The conversion record that answers `question`; throws as `convert` does. */
export function toConversion(
  { table, attribution }: LatestSnapshot,
  params: ConversionParams,
): Conversion {
  const conversion = convert(table, params)
  const { updatedAt } = oldestPublication(table, [conversion.from, conversion.to])
  return { ...conversion, updatedAt, source: toSource(attribution) }
}

/**
 * The conversion that `question` asks for. `amountSent` is how an error names the amount.
 *
 * @throws {RatesError} `invalid_currency`; `invalid_amount` where the result is beyond the doubles
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
