import { success } from '../../http/respond.ts'
import type { Endpoint } from '../../http/router.ts'
import { conversionRecord } from '../../records/conversion.ts'
import type { RateSources } from '../../sources/sources.ts'
import { parseConversion } from '../parse-conversion.ts'

/** `GET /api/v1/convert` */
export function convert(sources: RateSources): Endpoint {
  return async (query, waiter) => {
    const { question, amountSent } = parseConversion(query)
    const reading = await sources.latest(waiter)
    const record = conversionRecord(reading.value, question, amountSent)
    return success(record, { lifetime: 'minute', reading, updatedAt: record.updatedAt })
  }
}
