import type { Memory } from '../../http/memory.ts'
import { createQueryParser } from '../../http/query.ts'
import { deliveryHeaders, represent, toSendable } from '../../http/representation.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { pairHistory } from '../../records/history.ts'
import type { HistoryQuestion } from '../../records/history.ts'
import { createHistoryWriter } from '../../records/history-text.ts'
import type { RateSources } from '../../sources/sources.ts'
import { currency, failures, period } from '../parameters.ts'
import { whenRead } from '../when-read.ts'

const parse = createQueryParser({
  parameters: { from: currency, to: currency, period },
  failures,
  toQuestion: (question) => ({ question, key: toKey(question) }),
  isRecurring: true,
})

const HEADERS = deliveryHeaders({ lifetime: 'hour' })

/** `GET /api/v1/history` */
export function history(sources: RateSources, memory: Memory, now: () => number): Endpoint {
  const write = createHistoryWriter()
  return (query, waiter) => {
    const { question, key } = parse(query)
    return whenRead(sources.history(waiter), (reading) => {
      const instant = now()
      const make = () => {
        const bytes = write(pairHistory(reading.value, question, toDay(instant)))
        return represent(toSendable(bytes), HEADERS)
      }
      // A window ends today at the latest, whatever else is published.
      const day = Math.floor(instant / DAY_MS)
      return { representation: memory.recall(reading.value, key, make, day), reading }
    })
  }
}

/** The same key for every way to ask the same. */
function toKey({ from, to, period: of = '1M' }: HistoryQuestion): string {
  return `history ${from.toUpperCase()} ${to.toUpperCase()} ${of}`
}
