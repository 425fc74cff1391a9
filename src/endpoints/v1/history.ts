import type { Memory } from '../../http/memory.ts'
import { createQueryParser } from '../../http/query.ts'
import { deliveryHeaders, represent, toSendable } from '../../http/representation.ts'
import type { Representation } from '../../http/representation.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { pairHistory } from '../../records/history.ts'
import type { HistoryQuestion, PairHistory } from '../../records/history.ts'
import { createHistoryWriter } from '../../records/history-text.ts'
import type { RateSources } from '../../sources/sources.ts'
import { currency, failures, format, period } from '../parameters.ts'
import type { Format } from '../parameters.ts'
import { whenRead } from '../when-read.ts'

const parse = createQueryParser({
  parameters: { from: currency, to: currency, period, format },
  failures,
  toQuestion: (question) => ({ question, key: toKey(question) }),
  isRecurring: true,
})

const HEADERS = deliveryHeaders({ lifetime: 'hour' })

/** `GET /api/v1/history` */
export function history(sources: RateSources, memory: Memory, now: () => number): Endpoint {
  const write = createHistoryWriter()
  const json = {
    representHistory: (pair: PairHistory): Representation =>
      represent(toSendable(write(pair)), HEADERS),
  }
  return (query, waiter) => {
    const { question, key } = parse(query)
    const form = question.format === 'csv' ? import('../csv.ts') : json
    return whenRead(form, ({ representHistory }) =>
      whenRead(sources.history(waiter), (reading) => {
        const instant = now()
        const make = () => representHistory(pairHistory(reading.value, question, toDay(instant)))
        // A window ends today at the latest, whatever else is published.
        const day = Math.floor(instant / DAY_MS)
        return { representation: memory.recall(reading.value, key, make, day), reading }
      }),
    )
  }
}

/** What a query asks for. */
type AskedHistory = HistoryQuestion & { format?: Format | undefined }

/** The same key for every way to ask the same. */
function toKey({ from, to, period: of = '1M', format: as = 'json' }: AskedHistory): string {
  return `history ${as} ${from.toUpperCase()} ${to.toUpperCase()} ${of}`
}
