import type { Endpoint } from '../http/endpoint.ts'
import type { Memory } from '../http/memory.ts'
import { deliveryHeaders, represent } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import { latestRecord } from '../records/latest.ts'
import type { LatestQuestion, LatestRecord } from '../records/latest.ts'
import type { RateSources } from '../sources/sources.ts'
import type { Format } from './parameters.ts'
import { whenRead } from './when-read.ts'

/** A table that a query asks for. */
export interface AskedTable {
  question: LatestQuestion & { format?: Format | undefined }
  /** The same for every way to ask for it, and for nothing else. */
  key: string
}

/** An endpoint of tables, whose queries `parse` reads and whose JSON is what `toRecord` makes of the records of `/api/v1`. */
export function tableEndpoint(
  sources: RateSources,
  memory: Memory,
  parse: (query: string) => AskedTable,
  toRecord: (latest: LatestRecord) => object,
): Endpoint {
  const json = {
    representTable(latest: LatestRecord): Representation {
      const headers = deliveryHeaders({ lifetime: 'minute', updatedAt: latest.updatedAt })
      return represent(JSON.stringify(toRecord(latest)), headers)
    },
  }
  return (query, waiter) => {
    const { question, key } = parse(query)
    const form = question.format === 'csv' ? import('./csv.ts') : json
    return whenRead(form, ({ representTable }) =>
      whenRead(sources.latest(waiter), (reading) => {
        const make = () => representTable(latestRecord(reading.value, question))
        return { representation: memory.recall(reading.value, key, make), reading }
      }),
    )
  }
}
