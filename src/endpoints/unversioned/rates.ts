import { createQueryParser } from '../../http/query.ts'
import { success } from '../../http/respond.ts'
import type { Endpoint } from '../../http/router.ts'
import { latestRecord } from '../../records/latest.ts'
import type { RateSources } from '../../sources/sources.ts'
import { base, failures } from '../parameters.ts'
import { providerText } from './provider-text.ts'

const parse = createQueryParser({
  parameters: { base },
  failures,
  mistaken: { from: 'base' },
})

/** `GET /api/rates` */
export function rates(sources: RateSources): Endpoint {
  return async (query, waiter) => {
    const question = parse(query)
    const reading = await sources.latest(waiter)
    const latest = latestRecord(reading.value, question)
    const { updatedAt, nextUpdateAt } = latest
    const provider = providerText(latest.source)
    const record = { base: latest.base, rates: latest.rates, updatedAt, nextUpdateAt, provider }
    return success(record, { lifetime: 'minute', reading, updatedAt })
  }
}
