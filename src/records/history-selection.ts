import { invalidParameter, missingParameter } from '../errors.ts'
import type { Day } from '../rates/day.ts'
import type { Interval } from '../rates/interval.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { Period } from '../rates/period.ts'
import type { HistoryRangeParams } from './history-range.ts'
import type { HistoryParams } from './history.ts'

/** Validated history parameters in any combination. */
export interface HistorySelection {
  from: CurrencyCode
  to: CurrencyCode
  period?: Period | undefined
  start?: Day | undefined
  end?: Day | undefined
  interval?: Interval | undefined
}

/**
 * Returns the parameters of a period or of a range.
 *
 * @throws {RatesError} `missing_parameter` without `start`; `invalid_parameter` for a period with days, or days in reverse order
 */
export function toHistoryParams(selection: HistorySelection): HistoryParams | HistoryRangeParams {
  const { from, to, period, start, end, interval } = selection
  if (start === undefined && end === undefined) return { from, to, period, interval }
  if (period !== undefined)
    throw invalidParameter('period', 'must not be combined with start or end')
  if (start === undefined) throw missingParameter('start')
  if (end !== undefined && start > end) throw invalidParameter('start', 'must not be after end')
  return { from, to, start, end, interval }
}
