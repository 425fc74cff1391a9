import { CSV_HISTORY } from '../api/csv.ts'
import { JSON_HISTORY, createHistoryWriter } from '../api/history-writer.ts'
import { isPlain, pairHistory, toHistoryParams } from '../api/history.ts'
import type { HistoryListParams, OneHistoryParams, PairHistory, PairRange } from '../api/history.ts'
import { MISTAKEN_HISTORY_NAMES } from '../api/mistaken-names.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import { createQueryParser } from '../http/query.ts'
import type { ResponseCaches } from '../http/response-cache.ts'
import { bodyHeaders, represent, toSendable, viaLink } from '../http/response.ts'
import type { DataResult, Endpoint, Representation } from '../http/response.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type { Period } from '../rates/dates.ts'
import { rowsOf } from '../rates/market-history.ts'
import type { IntervalValue } from '../rates/series.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { CacheResult, RateSources } from '../sources/rate-sources.ts'
import { targets } from './convert.ts'
import type { Layout, ParsedHistory } from './history-list.ts'
import { currency, date, failures, format, interval, period, source } from './parameters.ts'
import type { Format, Optional } from './parameters.ts'
import { lazyEndpoint } from './service.ts'
import * as z from 'zod/mini'

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

/** These are checked with the code of `history-list.ts`, which only their requests load. */
const value: Optional<IntervalValue> = z.optional(z.custom<IntervalValue>())
const fill: Optional<'previous'> = z.optional(z.custom<'previous'>())
const layout: Optional<Layout> = z.optional(z.custom<Layout>())

const parse = createQueryParser({
  parameters: {
    from: currency,
    to: targets,
    period,
    start: date,
    end: date,
    interval,
    value,
    fill,
    source,
    format,
    layout,
  },
  failures,
  mistaken: MISTAKEN_HISTORY_NAMES.advice,
  toParams({ format: type = 'json', layout: lines = 'long', ...selection }): ParsedHistory {
    const params = toHistoryParams(selection)
    return { params, type, lines, key: toKey(params, type) }
  },
  isRecurring: true,
})

function toKey(params: HistoryListParams, type: Format): string {
  const { from, to, period: of = '1M', ...points } = params
  const { start, end, interval: each, value: use, fill: missing, source: only } = points
  return (
    `history ${type} ${from} ${String(to)} `.toUpperCase() +
    [of, start, end, each, use, missing, only].join()
  )
}

export function history(
  sources: RateSources,
  responseCaches: ResponseCaches,
  now: () => number,
): Endpoint {
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
