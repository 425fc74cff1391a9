import { createQueryParser } from '../../http/query.ts'
import { success } from '../../http/respond.ts'
import type { Endpoint } from '../../http/router.ts'
import { latestRecord } from '../../records/latest.ts'
import type { RateSources } from '../../sources/sources.ts'
import { base, failures, symbols } from '../parameters.ts'

const parse = createQueryParser({
  parameters: { base, symbols },
  failures,
  mistaken: { from: 'base' },
})

/** `GET /api/v1/latest` */
export function latest(sources: RateSources): Endpoint {
  return async (query, waiter) => {
    const question = parse(query)
    const reading = await sources.latest(waiter)
    const record = latestRecord(reading.value, question)
    return success(record, { lifetime: 'minute', reading, updatedAt: record.updatedAt })
  }
}
