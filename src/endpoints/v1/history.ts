import type { Endpoint } from '../../http/endpoint.ts'
import type { Memories } from '../../http/memory.ts'
import { deliveryHeaders, represent, toSendable } from '../../http/representation.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { pairHistory } from '../../records/history.ts'
import { JSON_HISTORY, createHistoryWriter } from '../../records/history-text.ts'
import type { RateSources } from '../../sources/sources.ts'
import type { Format } from '../parameters.ts'
import { whenRead } from '../when-read.ts'
import type { HistoryForm } from './history-range.ts'
import { daysOf, isExpensive, parseHistory } from './parse-history.ts'

const HEADERS = deliveryHeaders({ lifetime: 'hour' })

/** `GET /api/v1/history` */
export function history(
  sources: RateSources,
  { history: memory, dated }: Memories,
  now: () => number,
): Endpoint {
  const write = createHistoryWriter(JSON_HISTORY)
  const json: HistoryForm = {
    representHistory: (pair) => represent(toSendable(write(pair)), HEADERS),
  }
  let csv: HistoryForm | undefined

  async function loadCsv(): Promise<HistoryForm> {
    const { createCsvForm } = await import('../csv.ts')
    return (csv ??= createCsvForm())
  }

  function formOf(format: Format = 'json'): HistoryForm | Promise<HistoryForm> {
    return format === 'csv' ? (csv ?? loadCsv()) : json
  }

  return (query, waiter) => {
    const asked = parseHistory(query)
    const { question, key } = asked
    if ((question.start ?? question.end ?? question.interval) !== undefined) {
      return import('./history-range.ts').then(({ answerRange }) =>
        answerRange({ sources, memory: dated, now, formOf }, asked, waiter),
      )
    }
    return whenRead(formOf(question.format), ({ representHistory }) =>
      whenRead(sources.history(waiter), (reading) => {
        const { value } = reading
        const instant = now()
        // A window ends today at the latest, whatever else is published.
        const day = Math.floor(instant / DAY_MS)
        const known = memory.find(value, key, day)
        if (known) return { representation: known, reading }
        const recalled = {
          data: value,
          key,
          day,
          hasWaited: !reading.hit,
          isExpensive: () => isExpensive(daysOf(question.period), question.format),
          make: () => representHistory(pairHistory(value, question, toDay(instant))),
        }
        return whenRead(memory.recallExpensive(recalled, waiter), (representation) => {
          return { representation, reading }
        })
      }),
    )
  }
}
