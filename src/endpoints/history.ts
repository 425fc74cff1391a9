import { JSON_HISTORY, createHistoryWriter } from '../api/history-writer.ts'
import { intervalHistory, pairHistory, toHistoryParams } from '../api/history.ts'
import type { HistorySelection } from '../api/history.ts'
import { MISTAKEN_HISTORY_NAMES } from '../api/mistaken-names.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import { createQueryParser } from '../http/query.ts'
import type { ResponseCache, ResponseCaches } from '../http/response-cache.ts'
import { bodyHeaders, represent, toSendable } from '../http/response.ts'
import type { Endpoint, EndpointResult, Representation, RequestContext } from '../http/response.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type { Period } from '../rates/dates.ts'
import { rowsOf } from '../rates/market-history.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import type { HistoryForm } from './csv.ts'
import { mapMaybePromise } from './map-maybe-promise.ts'
import { currency, date, failures, format, interval, period } from './parameters.ts'
import type { Format } from './parameters.ts'

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
    const { createCsvForm } = await import('./csv.ts')
    return (csv ??= createCsvForm())
  }

  function formOf(format: Format = 'json'): HistoryForm | Promise<HistoryForm> {
    return format === 'csv' ? (csv ?? loadCsv()) : json
  }

  return (query, request) => {
    const parsed = parseHistory(query)
    const { params, key } = parsed
    if ((params.start ?? params.end ?? params.interval) !== undefined) {
      return respondRange({ sources, responseCache: dated, now, formOf }, parsed, request)
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

/** Options of `respondRange`. */
export interface RangeOptions {
  sources: RateSources
  responseCache: ResponseCache
  now: () => number
  /** Returns the writer for a format. */
  formOf(format: Format | undefined): HistoryForm | Promise<HistoryForm>
}

/** Responds to a history request with days, an interval or both. */
export async function respondRange(
  { sources, responseCache, now, formOf }: RangeOptions,
  { params: selection, key }: ParsedHistory,
  request: RequestContext,
): Promise<EndpointResult> {
  const params = toHistoryParams(selection)
  const { representHistory } = await formOf(selection.format)
  const result = await sources.history(request, params.start)
  const instant = now()
  const make = (): Representation =>
    representHistory(intervalHistory(result.value, params, toDay(instant)))
  const day = Math.floor(instant / DAY_MS)
  const work = {
    data: result.value,
    key,
    day,
    hasWaited: !result.hit,
    isExpensive: () => isExpensive(daysIn(params, result.value), selection.format),
    make,
  }
  return {
    representation: await responseCache.getOrCreateLimited(work, request),
    freshness: result,
  }
}

function daysIn(
  { period, start, end = '9999-12-31' }: ReturnType<typeof toHistoryParams>,
  { history }: HistorySnapshot,
): number {
  if (start === undefined) return daysOf(period)
  const [first, last] = rowsOf(history, start, end)
  return last - first
}

// Approximate number of published days.
const PERIOD_DAYS: Readonly<Record<Period, number>> = {
  '1W': 6,
  '1M': 23,
  '3M': 66,
  '6M': 131,
  '1Y': 260,
  '5Y': 1_300,
}

// Approximate size.
const POINT_BYTES: Readonly<Record<Format, number>> = { json: 40, csv: 100 }

/** The history that a query requests. */
export interface ParsedHistory {
  params: HistorySelection & { format?: Format | undefined }
  /** Cache key: equal for all queries that request the same history. */
  key: string
}

/** Parses the query of a history. */
export const parseHistory: (query: string) => ParsedHistory = createQueryParser({
  parameters: { from: currency, to: currency, period, start: date, end: date, interval, format },
  failures,
  mistaken: MISTAKEN_HISTORY_NAMES.advice,
  toParams: (params) => ({ params, key: toKey(params) }),
  isRecurring: true,
})

/** Returns the approximate number of published days in `period`. */
export function daysOf(period: Period = '1M'): number {
  return PERIOD_DAYS[period]
}

/** Returns whether a history of `days` published days is expensive; an interval also reads all of them. */
export function isExpensive(days: number, format: Format = 'json'): boolean {
  return days * POINT_BYTES[format] > LARGE_BODY_BYTES
}

function toKey({
  from,
  to,
  period: of = '1M',
  format: as = 'json',
  start,
  end,
  interval: each,
}: ParsedHistory['params']): string {
  return `history ${as} ${from.toUpperCase()} ${to.toUpperCase()} ${[of, start, end, each].join()}`
}
