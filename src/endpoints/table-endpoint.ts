import type { Endpoint, Outcome } from '../http/endpoint.ts'
import type { Memory } from '../http/memory.ts'
import { deliveryHeaders, represent } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import type { Day } from '../rates/day.ts'
import { codesOf, latestRecord } from '../records/latest.ts'
import type { LatestQuestion, LatestRecord } from '../records/latest.ts'
import type { RateSources, Waiter } from '../sources/sources.ts'
import type { Format } from './parameters.ts'
import { whenRead } from './when-read.ts'

/** A table that a query asks for. */
export interface AskedTable {
  question: Pick<LatestQuestion, 'base' | 'symbols'> & { format?: Format | undefined }
  /** The same for every way to ask for it, and for nothing else. */
  key: string
  /** The day whose rates are asked for, where it is not those of now. */
  date?: Day | undefined
}

/** The same of an earlier day. */
export interface AskedDate extends AskedTable {
  date: Day
}

/** What an endpoint of tables is made from. */
export interface TableOptions {
  sources: RateSources
  memory: Memory
  /** Reads a query. */
  parse(query: string): AskedTable
  /** What is written as JSON. */
  toRecord(latest: LatestRecord): object
  /** Answers with the rates of an earlier day, where these may be asked for. */
  answerDated?(asked: AskedDate, waiter: Waiter): Promise<Outcome>
}

/** An endpoint of tables, made of the records of `/api/v1`. */
export function tableEndpoint(options: TableOptions): Endpoint {
  const { sources, memory, parse, toRecord } = options
  const json = {
    representTable(latest: LatestRecord, lastModified: number): Representation {
      const headers = deliveryHeaders({ lifetime: 'minute', lastModified })
      return represent(JSON.stringify(toRecord(latest)), headers)
    },
  }
  return (query, waiter) => {
    const { question, key, date } = parse(query)
    if (date !== undefined && options.answerDated) {
      return options.answerDated({ question, key, date }, waiter)
    }
    const form = question.format === 'csv' ? import('./csv.ts') : json
    return whenRead(form, ({ representTable }) =>
      whenRead(
        sources.latest(waiter, () => codesOf(question)),
        (reading) => {
          const make = () => {
            const record = latestRecord(reading.value, question)
            const { publishedAt } = reading.value.table
            return representTable(record, Math.min(record.updatedAt, publishedAt))
          }
          return { representation: memory.recall(reading.value, key, make), reading }
        },
      ),
    )
  }
}
