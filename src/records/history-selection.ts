import { invalidParameter, missingParameter } from '../errors.ts'
import type { Day } from '../rates/day.ts'
import type { Interval } from '../rates/interval.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { Period } from '../rates/period.ts'
import type { HistoryRangeParams } from './history-range.ts'
import type { HistoryParams } from './history.ts'

/** What may be asked of history, whether or not it goes together. Days are real ones. */
export interface HistorySelection {
  from: CurrencyCode
  to: CurrencyCode
  period?: Period | undefined
  start?: Day | undefined
  end?: Day | undefined
  interval?: Interval | undefined
}

/**
 * The one question that `asked` is.
 *
 * @throws {RatesError} `missing_parameter` and `invalid_parameter` where it is none, or two
 */
export function toHistoryParams(selection: HistorySelection): HistoryParams | HistoryRangeParams {
  const { from, to, period, start, end, interval } = selection
  if (start === undefined && end === undefined) return { from, to, period, interval }
  if (period !== undefined) throw invalidParameter('period', 'either a period, or start and end')
  if (start === undefined) throw missingParameter('start')
  if (end !== undefined && start > end) throw invalidParameter('start', 'not after end')
  return { from, to, start, end, interval }
}
