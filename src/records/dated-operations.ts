import { invalidParameter } from '../errors.ts'
import { isDay, toDay } from '../rates/day.ts'
import { INTERVALS } from '../rates/interval.ts'
import type { RateSources } from '../sources/sources.ts'
import { requireOneQuestion } from './asked-days.ts'
import { datedLatestRecord } from './dated-latest.ts'
import type { DatedLatestQuestion, DatedLatestRecord } from './dated-latest.ts'
import { refuseFuture, sinceOf } from './dated.ts'
import { intervalHistory, rangeRecord } from './history-range.ts'
import type { HistoryRangeQuestion, HistoryRangeRecord } from './history-range.ts'
import { historyRecord } from './history.ts'
import type { HistoryQuestion, HistoryRecord } from './history.ts'

/** The record that answers `question`, of a date that may be any text. */
export async function tellLatest(
  sources: RateSources,
  now: () => number,
  question: DatedLatestQuestion,
): Promise<DatedLatestRecord> {
  const { date } = question
  refuseOtherThanDay('date', date)
  refuseFuture(date, toDay(now()))
  const { value } = await sources.history(undefined, sinceOf(date))
  return datedLatestRecord(value, question, toDay(now()))
}

/** The record that answers `asked`, of days and an interval that may be any texts. */
export async function tellHistory(
  sources: RateSources,
  now: () => number,
  asked: HistoryQuestion | HistoryRangeQuestion,
): Promise<HistoryRecord | HistoryRangeRecord> {
  const { start, end, interval } = asked
  if (start !== undefined) refuseOtherThanDay('start', start)
  if (end !== undefined) refuseOtherThanDay('end', end)
  if (interval !== undefined && !INTERVALS.includes(interval)) {
    throw invalidParameter('interval', 'day, week or month')
  }
  const question = requireOneQuestion(asked)
  const { value } = await sources.history(undefined, question.start)
  const history = intervalHistory(value, question, toDay(now()))
  return 'start' in history ? rangeRecord(history) : historyRecord(history)
}

function refuseOtherThanDay(parameter: string, sent: unknown): void {
  if (typeof sent === 'string' && isDay(sent)) return
  throw invalidParameter(parameter, 'YYYY-MM-DD')
}
