import { check } from '../api/check.ts'
import { toConversion } from '../api/convert.ts'
import type { ConversionResult } from '../api/convert.ts'
import type { SnapshotConversionParams, Targets } from '../api/parameter-types.ts'
import { AT_RATES } from '../api/parameters.ts'
import { readSnapshot } from '../api/snapshot.ts'
import type { RatesSnapshot } from '../api/snapshot.ts'
import { invalidCurrency } from '../errors.ts'

/**
 * Converts an amount at the rates of a snapshot: the record of `/v1/convert`, always the same. Uses no clock and no network.
 *
 * @throws {RatesError} `invalid_parameter` for a snapshot of another version or with damage; `invalid_currency` for one that it
 *   does not have; as `rates.convert` does
 * @example
 * ```ts
 * import { createRates } from 'ratesmith'
 * import { convertAt } from 'ratesmith/quotes'
 *
 * const snapshot = await createRates().snapshot({ base: 'EUR', symbols: ['USD'] })
 * const order = JSON.parse(JSON.stringify({ total: '99.90', snapshot }))
 * const { rounded } = convertAt(order.snapshot, { from: 'USD', to: 'EUR', amount: order.total, round: 'minor' })
 * console.log(rounded)
 * ```
 */
export function convertAt<const To extends Targets>(
  snapshot: RatesSnapshot,
  params: SnapshotConversionParams<To>,
): ConversionResult<To> {
  check(AT_RATES, params)
  const rates = readSnapshot(snapshot)
  for (const [name, codes] of Object.entries({ from: [params.from], to: [params.to].flat() })) {
    const missing = codes.find((code) => !rates.table.rates.has(code.toUpperCase()))
    if (missing !== undefined) throw invalidCurrency(name, missing, 'not in the snapshot')
  }
  return Object(toConversion(rates, params))
}
