import { success } from '../../http/respond.ts'
import type { Endpoint } from '../../http/router.ts'
import { conversionRecord } from '../../records/conversion.ts'
import type { RateSources } from '../../sources/sources.ts'
import { parseConversion } from '../parse-conversion.ts'
import { providerText } from './provider-text.ts'

/** `GET /api/convert` */
export function convert(sources: RateSources): Endpoint {
  return async (query, waiter) => {
    const { question, amountSent } = parseConversion(query)
    const reading = await sources.latest(waiter)
    const { source, ...conversion } = conversionRecord(reading.value, question, amountSent)
    const record = { ...conversion, provider: providerText(source) }
    return success(record, { lifetime: 'minute', reading, updatedAt: record.updatedAt })
  }
}
