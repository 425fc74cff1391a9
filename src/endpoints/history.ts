import { CSV_HISTORY } from '../api/csv.ts'
import { JSON_HISTORY, createHistoryWriter } from '../api/history-writer.ts'
import { isPlain, pairHistory, toHistoryParams } from '../api/history.ts'
import type {
  HistoryListParams,
  HistorySelection,
  OneHistoryParams,
  PairHistory,
  PairRange,
  Targets,
} from '../api/history.ts'
import { OPERATIONS } from '../api/parameters.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import { createQueryParser } from '../http/query.ts'
import { bodyHeaders, represent, toSendable, viaLink } from '../http/response.ts'
import type { DataResult, Endpoint, Representation } from '../http/response.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type { Period } from '../rates/dates.ts'
import { rowsOf } from '../rates/market-history.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { CacheResult } from '../sources/rate-sources.ts'
import type { Layout, ParsedHistory } from './history-list.ts'
import type { EndpointContext, Format } from './routes.ts'
import { lazyEndpoint } from './service.ts'

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

function toKey(params: HistoryListParams, type: Format): string {
  const { from, to, period: of = '1M', ...points } = params
  const { start, end, interval: each, value: use, fill: missing, source: only } = points
  return (
    `history ${type} ${from} ${String(to)} `.toUpperCase() +
    [of, start, end, each, use, missing, only].join()
  )
}

export function history({ sources, responseCaches, now, keyNames }: EndpointContext): Endpoint {
  const parseQuery = createQueryParser<
    HistorySelection<Targets> & { format?: Format; layout?: Layout }
  >(OPERATIONS.history, keyNames)
  const parse = (query: string): ParsedHistory => {
    const { format: type = 'json', layout: lines = 'long', ...selection } = parseQuery(query).params
    const params = toHistoryParams(selection)
    return { params, type, lines, key: toKey(params, type) }
  }
  const representHistory = createHistoryRenderer()
  const respondAny = lazyEndpoint(async () => {
    const { historyList } = await import('./history-list.ts')
    return historyList({ sources, responseCache: responseCaches.dated, now, parse, sizeOf })
  })
  return (query, request) => {
    const { params, type, lines, key } = parse(query)
    if (lines !== 'long' || !isPlain(params)) return respondAny(query, request)
    const isDefault = (params.start ?? params.interval ?? params.value) === undefined
    const respond = (freshness: CacheResult<HistorySnapshot>): DataResult | Promise<DataResult> => {
      const { value: data, hit } = freshness
      // A cache of one history would be cleared by every request for another.
      const isOnly = isDefault && data.calendar === undefined
      const responseCache = isOnly ? responseCaches.history : responseCaches.dated
      const instant = now()
      // A window never ends after today, even if later days are published.
      const day = Math.floor(instant / DAY_MS)
      const cached = responseCache.find(data, key, day)
      if (cached) return { representation: cached, freshness }
      const isExpensive = (): boolean => sizeOf(params, data, type) > LARGE_BODY_BYTES
      const make = (): Representation =>
        representHistory(type, pairHistory(data, params, toDay(instant)))
      const work = { data, key, day, hasWaited: !hit, isExpensive, make }
      const made = responseCache.getOrCreateLimited(work, request)
      return made instanceof Promise
        ? made.then((representation) => ({ representation, freshness }))
        : { representation: made, freshness }
    }
    const { from, to, period: of = '1M', start, end, source: only } = params
    const need = { since: start, until: end, period: of, source: only, codes: [from, to] }
    return sources.history(need, request, respond)
  }
}

function sizeOf(params: OneHistoryParams, data: HistorySnapshot, type: Format): number {
  return daysIn(params, data) * POINT_BYTES[type]
}

/** Returns the approximate number of published days that are read; an interval also reads all of them. */
function daysIn(
  { period: of = '1M', start, end = '9999-12-31' }: OneHistoryParams,
  { history: days }: HistorySnapshot,
): number {
  if (start === undefined) return PERIOD_DAYS[of]
  const [first, last] = rowsOf(days, start, end)
  return last - first
}

function createHistoryRenderer(): (form: Format, pair: PairHistory | PairRange) => Representation {
  const writers = { json: createHistoryWriter(JSON_HISTORY), csv: createHistoryWriter(CSV_HISTORY) }
  return (form, pair) => {
    const headers = bodyHeaders({ form, lifetime: 'hour' })
    const links = form === 'csv' ? viaLink(pair.source) : []
    return represent(toSendable(writers[form](pair)), [...headers, ...links])
  }
}
