import { invalidAmount } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import { oldestPublication } from '../rates/carry-forward.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import { crossRate } from '../rates/rate-table.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { exactProduct } from '../rates/rounding.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import { requireCode } from './require-code.ts'
import { toSource } from './source.ts'

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
