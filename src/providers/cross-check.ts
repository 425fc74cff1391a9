import { assertKnownOptions } from '../known-options.ts'
import { systemRuntime } from '../runtime.ts'
import { checkedProvider } from './checked-provider.ts'
import { requireProvider } from './provider.ts'
import type { HistoryProvider, LatestProvider } from './provider.ts'

/** Options of `crossCheck`. */
export interface CrossCheckOptions {
  /**
   * By which share a rate may differ from the reference rate, above 0 and below 1 (default 0.03). The two may be
   * a weekend apart: of 2,629 days that the European Central Bank published from 2016 on, one of the currencies that are
   * compared was so far from the day before on 12.
   */
  tolerance?: number | undefined
}

/**
 * `primary`, whose tables are compared with the reference rates of `reference`: the newest day of the last ten. A major
 * currency that is further apart, against the euro, becomes an event, `rates_deviating`. The table stays as it is.
 *
 * Both are asked at the same time. A reference that has no answer a second later, when the primary's has come, is left out,
 * and so is one that fails: that becomes the event `check_failed`.
 *
 * @throws {TypeError} where `tolerance` is no share, or one of the two no provider
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
    throw new TypeError(`tolerance must be a share between 0 and 1, got ${String(tolerance)}`)
  }
  return checkedProvider(systemRuntime(Date.now), primary, { reference, tolerance })
}
