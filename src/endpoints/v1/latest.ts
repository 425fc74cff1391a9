import type { Memory } from '../../http/memory.ts'
import { createQueryParser } from '../../http/query.ts'
import { deliveryHeaders, represent } from '../../http/representation.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { latestRecord } from '../../records/latest.ts'
import type { LatestQuestion } from '../../records/latest.ts'
import type { RateSources } from '../../sources/sources.ts'
import { base, failures, symbols } from '../parameters.ts'
import { whenRead } from '../when-read.ts'

const parse = createQueryParser({
  parameters: { base, symbols },
  failures,
  mistaken: { from: 'base' },
  toQuestion: (question) => ({ question, key: toKey(question) }),
  isRecurring: true,
})

/** `GET /api/v1/latest` */
export function latest(sources: RateSources, memory: Memory): Endpoint {
  return (query, waiter) => {
    const { question, key } = parse(query)
    return whenRead(sources.latest(waiter), (reading) => {
      const representation = memory.recall(reading.value, key, () => {
        const record = latestRecord(reading.value, question)
        const { updatedAt } = record
        return represent(JSON.stringify(record), deliveryHeaders({ lifetime: 'minute', updatedAt }))
      })
      return { representation, reading }
    })
  }
}

/** The same key for every way to ask the same. */
function toKey({ base: from = 'USD', symbols: to = [] }: LatestQuestion): string {
  const codes = new Set(to.map((code) => code.toUpperCase()))
  return `latest ${from.toUpperCase()} ${[...codes].sort().join()}`
}
