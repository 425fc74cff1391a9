import type { Endpoint } from '../http/endpoint.ts'
import type { Memory } from '../http/memory.ts'
import { deliveryHeaders, represent } from '../http/representation.ts'
import { latestRecord } from '../records/latest.ts'
import type { LatestQuestion, LatestRecord } from '../records/latest.ts'
import type { RateSources } from '../sources/sources.ts'
import { whenRead } from './when-read.ts'

/** A table that a query asks for. */
export interface AskedTable {
  question: LatestQuestion
  /** The same for every way to ask for it, and for nothing else. */
  key: string
}

/** An endpoint of tables, whose queries `parse` reads and whose records are what `toRecord` makes of those of `/api/v1`. */
export function tableEndpoint(
  sources: RateSources,
  memory: Memory,
  parse: (query: string) => AskedTable,
  toRecord: (latest: LatestRecord) => object,
): Endpoint {
  return (query, waiter) => {
    const { question, key } = parse(query)
    return whenRead(sources.latest(waiter), (reading) => {
      const representation = memory.recall(reading.value, key, () => {
        const latest = latestRecord(reading.value, question)
        const { updatedAt } = latest
        const headers = deliveryHeaders({ lifetime: 'minute', updatedAt })
        return represent(JSON.stringify(toRecord(latest)), headers)
      })
      return { representation, reading }
    })
  }
}
