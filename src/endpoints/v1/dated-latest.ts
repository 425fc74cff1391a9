import type { Outcome } from '../../http/endpoint.ts'
import type { Memory } from '../../http/memory.ts'
import { deliveryHeaders, represent } from '../../http/representation.ts'
import type { Representation } from '../../http/representation.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { datedLatestRecord } from '../../records/dated-latest.ts'
import type { DatedLatestRecord } from '../../records/dated-latest.ts'
import { refuseFuture, sinceOf } from '../../records/dated.ts'
import type { RateSources, Waiter } from '../../sources/sources.ts'
import type { AskedDate } from '../table-endpoint.ts'

const json = {
  representTable(record: DatedLatestRecord, lastModified: number): Representation {
    return represent(JSON.stringify(record), deliveryHeaders({ lifetime: 'minute', lastModified }))
  },
}

/** Answers a question of the rates of an earlier day. */
export async function answerDated(
  { sources, memory, now }: { sources: RateSources; memory: Memory; now: () => number },
  { question, key, date }: AskedDate,
  waiter: Waiter,
): Promise<Outcome> {
  const instant = now()
  const today = toDay(instant)
  refuseFuture(date, today)
  const { representTable } = question.format === 'csv' ? await import('../csv.ts') : json
  const reading = await sources.history(waiter, sinceOf(date))
  const make = (): Representation => {
    const record = datedLatestRecord(reading.value, { ...question, date }, today)
    return representTable(record, Math.min(record.updatedAt, instant))
  }
  const day = Math.floor(instant / DAY_MS)
  return { representation: memory.recall(reading.value, key, make, day), reading }
}
