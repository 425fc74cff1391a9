import { invalidParameter } from '../errors.ts'
import { isDay, toDay } from '../rates/day.ts'
import { INTERVALS } from '../rates/interval.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { toDatedRates } from './dated-latest.ts'
import type { DatedRates, DatedRatesParams } from './dated-latest.ts'
import { assertNotFuture, earliestDayFor } from './dated.ts'
import { intervalHistory, toHistoryRange } from './history-range.ts'
import type { HistoryRange, HistoryRangeParams } from './history-range.ts'
import { toHistoryParams } from './history-selection.ts'
import { toRateHistory } from './history.ts'
import type { HistoryParams, RateHistory } from './history.ts'

/** Returns the rates of an earlier day; validates `date`. */
export async function latestOnDay(
  sources: RateSources,
  now: () => number,
  params: DatedRatesParams,
): Promise<DatedRates> {
  const { date } = params
  assertDay('date', date)
  assertNotFuture(date, toDay(now()))
  const { value } = await sources.history(undefined, earliestDayFor(date))
  return toDatedRates(value, params, toDay(now()))
}

/** Returns a history; validates the days and the interval. */
export async function historyOfSelection(
  sources: RateSources,
  now: () => number,
  selection: HistoryParams | HistoryRangeParams,
): Promise<RateHistory | HistoryRange> {
  const { start, end, interval } = selection
  if (start !== undefined) assertDay('start', start)
  if (end !== undefined) assertDay('end', end)
  if (interval !== undefined && !INTERVALS.includes(interval)) {
    throw invalidParameter('interval', 'must be day, week or month')
  }
  const params = toHistoryParams(selection)
  const { value } = await sources.history(undefined, params.start)
  const history = intervalHistory(value, params, toDay(now()))
  return 'start' in history ? toHistoryRange(history) : toRateHistory(history)
}

function assertDay(parameter: string, sent: unknown): void {
  if (typeof sent === 'string' && isDay(sent)) return
  throw invalidParameter(parameter, 'must be YYYY-MM-DD')
}
