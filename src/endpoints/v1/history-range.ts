import type { Outcome, RequestContext } from '../../http/endpoint.ts'
import type { Memory } from '../../http/memory.ts'
import type { Representation } from '../../http/representation.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { rowsOf } from '../../rates/market-history.ts'
import { requireOneQuestion } from '../../records/asked-days.ts'
import { intervalHistory } from '../../records/history-range.ts'
import type { PairRange } from '../../records/history-range.ts'
import type { PairHistory } from '../../records/history.ts'
import type { HistorySnapshot } from '../../sources/history-source.ts'
import type { RateSources } from '../../sources/sources.ts'
import type { Format } from '../parameters.ts'
import { daysOf, isExpensive } from './parse-history.ts'
import type { AskedHistory } from './parse-history.ts'

/** What a history of days is answered from and with. */
export interface RangeOptions {
  sources: RateSources
  memory: Memory
  now: () => number
  /** Returns what writes the format. */
  formOf(format: Format | undefined): HistoryForm | Promise<HistoryForm>
}

/** Something that writes histories. */
export interface HistoryForm {
  representHistory(pair: PairHistory | PairRange): Representation
}

/** Answers a question of days, of intervals or of both. */
export async function answerRange(
  { sources, memory, now, formOf }: RangeOptions,
  { question: asked, key }: AskedHistory,
  waiter: RequestContext,
): Promise<Outcome> {
  const question = requireOneQuestion(asked)
  const { representHistory } = await formOf(asked.format)
  const reading = await sources.history(waiter, question.start)
  const instant = now()
  const make = (): Representation =>
    representHistory(intervalHistory(reading.value, question, toDay(instant)))
  const day = Math.floor(instant / DAY_MS)
  const recalled = {
    data: reading.value,
    key,
    day,
    hasWaited: !reading.hit,
    isExpensive: () => isExpensive(daysIn(question, reading.value), asked.format),
    make,
  }
  return { representation: await memory.recallExpensive(recalled, waiter), reading }
}

/** How many published days a question is about. */
function daysIn(
  { period, start, end = '9999-12-31' }: ReturnType<typeof requireOneQuestion>,
  { history }: HistorySnapshot,
): number {
  if (start === undefined) return daysOf(period)
  const [first, last] = rowsOf(history, start, end)
  return last - first
}
