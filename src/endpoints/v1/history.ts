import { createQueryParser } from '../../http/query.ts'
import { success } from '../../http/respond.ts'
import type { Endpoint } from '../../http/router.ts'
import { toDay } from '../../rates/day.ts'
import { historyRecord } from '../../records/history.ts'
import type { RateSources } from '../../sources/sources.ts'
import { currency, failures, period } from '../parameters.ts'

const parse = createQueryParser({
  parameters: { from: currency, to: currency, period },
  failures,
})

/** `GET /api/v1/history` */
export function history(sources: RateSources, now: () => number): Endpoint {
  return async (query, waiter) => {
    const question = parse(query)
    const reading = await sources.history(waiter)
    const record = historyRecord(reading.value, question, toDay(now()))
    return success(record, { lifetime: 'hour', reading })
  }
}
