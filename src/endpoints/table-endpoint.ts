import type { Endpoint } from '../http/endpoint.ts'
import type { Memory } from '../http/memory.ts'
import { viaLink } from '../http/link.ts'
import { deliveryHeaders, represent } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import { latestCsv } from '../records/latest-csv.ts'
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
  return (query, waiter) => {
    const { question, key } = parse(query)
    return whenRead(sources.latest(waiter), (reading) => {
      const representation = memory.recall(reading.value, key, () => {
        const latest = latestRecord(reading.value, question)
        return question.format === 'csv' ? asCsv(latest) : asJson(toRecord(latest), latest)
      })
      return { representation, reading }
    })
  }
}

function asJson(record: object, { updatedAt }: LatestRecord): Representation {
  return represent(JSON.stringify(record), deliveryHeaders({ lifetime: 'minute', updatedAt }))
}

function asCsv(latest: LatestRecord): Representation {
  const { updatedAt, source } = latest
  const headers = deliveryHeaders({ form: 'csv', lifetime: 'minute', updatedAt })
  return represent(latestCsv(latest), [...headers, ...viaLink(source)])
}
