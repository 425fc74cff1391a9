import { assertKnownOptions } from '../known-options.ts'
import { systemRuntime } from '../runtime.ts'
import { checkedProvider } from './checked-provider.ts'
import { requireProvider } from './provider.ts'
import type { HistoryProvider, LatestProvider } from './provider.ts'

/** Options of `crossCheck`. */
export interface CrossCheckOptions {
  /**
   * Accepted deviation from the reference rate, as a share above 0 and below 1 (default 0.03, which is 3 %). The two rates
   * may be a weekend apart: on 12 of 2,629 days that the European Central Bank published since 2016, one of the compared
   * currencies moved by more than 3 % from one day to the next.
   */
  tolerance?: number | undefined
}

/**
 * Wraps `primary` and compares its tables with the newest reference rates of the last ten days. Emits `rates_deviating` if
 * a major currency differs by more than `tolerance` against the euro; the table stays unchanged.
 *
 * Both providers get their requests at the same time. If the reference fails, or has not responded after 1 s when the
 * primary has, the table is served unchecked and `check_failed` is emitted.
 *
 * @throws {TypeError} if `tolerance` is not above 0 and below 1, or an argument is not a provider
 * @example
 * ```ts
 * import { createExchangeRateApiProvider, createRatesHandler } from 'ratesmith'
 * import { crossCheck } from 'ratesmith/providers/cross-check'
 * import { createEcbProvider } from 'ratesmith/providers/ecb'
 *
 * const latest = crossCheck(createExchangeRateApiProvider(), createEcbProvider())
 * const handler = createRatesHandler({ providers: { latest } })
 * ```
 */
export function crossCheck(
  primary: LatestProvider,
  reference: HistoryProvider,
  options: CrossCheckOptions = {},
): LatestProvider {
  const { tolerance = 0.03 } = options
  assertKnownOptions(options, { tolerance })
  requireProvider('primary', 'fetchLatest', primary)
  requireProvider('reference', 'fetchHistory', reference)
  if (!(typeof tolerance === 'number' && tolerance > 0 && tolerance < 1)) {
    throw new TypeError(`tolerance must be above 0 and below 1, got ${String(tolerance)}`)
  }
  return checkedProvider(systemRuntime(Date.now), primary, { reference, tolerance })
}
