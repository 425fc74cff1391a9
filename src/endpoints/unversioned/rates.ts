import type { Memory } from '../../http/memory.ts'
import { createQueryParser } from '../../http/query.ts'
import { deliveryHeaders, represent } from '../../http/representation.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { latestRecord } from '../../records/latest.ts'
import type { RateSources } from '../../sources/sources.ts'
import { base, failures } from '../parameters.ts'
import { whenRead } from '../when-read.ts'
import { providerText } from './provider-text.ts'

const parse = createQueryParser({
  parameters: { base },
  failures,
  mistaken: { from: 'base' },
  toQuestion: (question) => ({ question, key: `rates ${(question.base ?? 'USD').toUpperCase()}` }),
  isRecurring: true,
})

/** `GET /api/rates` */
export function rates(sources: RateSources, memory: Memory): Endpoint {
  return (query, waiter) => {
    const { question, key } = parse(query)
    return whenRead(sources.latest(waiter), (reading) => {
      const representation = memory.recall(reading.value, key, () => {
        const latest = latestRecord(reading.value, question)
        const { updatedAt, nextUpdateAt } = latest
        const provider = providerText(latest.source)
        const record = { base: latest.base, rates: latest.rates, updatedAt, nextUpdateAt, provider }
        return represent(JSON.stringify(record), deliveryHeaders({ lifetime: 'minute', updatedAt }))
      })
      return { representation, reading }
    })
  }
}
