import type { Endpoint } from '../../http/endpoint.ts'
import { bodyHeaders, represent, toSendable } from '../../http/representation.ts'
import type { ResponseCaches } from '../../http/response-cache.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { JSON_HISTORY, createHistoryWriter } from '../../records/history-text.ts'
import { pairHistory } from '../../records/history.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { mapMaybePromise } from '../map-maybe-promise.ts'
import type { Format } from '../parameters.ts'
import type { HistoryForm } from './history-range.ts'
import { daysOf, isExpensive, parseHistory } from './parse-history.ts'

const HEADERS = bodyHeaders({ lifetime: 'hour' })

/** Creates `GET /api/v1/history`. */
export function history(
  sources: RateSources,
  { history: responseCache, dated }: ResponseCaches,
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

  return (query, request) => {
    const parsed = parseHistory(query)
    const { params, key } = parsed
    if ((params.start ?? params.end ?? params.interval) !== undefined) {
      return import('./history-range.ts').then(({ respondRange }) =>
        respondRange({ sources, responseCache: dated, now, formOf }, parsed, request),
      )
    }
    return mapMaybePromise(formOf(params.format), ({ representHistory }) =>
      mapMaybePromise(sources.history(request), (result) => {
        const { value } = result
        const instant = now()
        // A window never ends after today, even if later days are published.
        const day = Math.floor(instant / DAY_MS)
        const cached = responseCache.find(value, key, day)
        if (cached) return { representation: cached, freshness: result }
        const work = {
          data: value,
          key,
          day,
          hasWaited: !result.hit,
          isExpensive: () => isExpensive(daysOf(params.period), params.format),
          make: () => representHistory(pairHistory(value, params, toDay(instant))),
        }
        return mapMaybePromise(
          responseCache.getOrCreateLimited(work, request),
          (representation) => {
            return { representation, freshness: result }
          },
        )
      }),
    )
  }
}
