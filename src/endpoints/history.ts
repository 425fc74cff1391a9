import { CSV_HISTORY } from '../api/csv.ts'
import { JSON_HISTORY, createHistoryWriter } from '../api/history-writer.ts'
import { pairHistory, toHistoryParams } from '../api/history.ts'
import type { HistoryParams, HistoryRangeParams, PairHistory, PairRange } from '../api/history.ts'
import { MISTAKEN_HISTORY_NAMES } from '../api/mistaken-names.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import { createQueryParser } from '../http/query.ts'
import type { ResponseCaches } from '../http/response-cache.ts'
import { bodyHeaders, represent, toSendable, viaLink } from '../http/response.ts'
import type { DataResult, Endpoint, Representation } from '../http/response.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type { Period } from '../rates/dates.ts'
import { rowsOf } from '../rates/market-history.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { CacheResult, RateSources } from '../sources/rate-sources.ts'
import { currency, date, failures, format, interval, period } from './parameters.ts'
import type { Format } from './parameters.ts'

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

const parse = createQueryParser({
  parameters: { from: currency, to: currency, period, start: date, end: date, interval, format },
  failures,
  mistaken: MISTAKEN_HISTORY_NAMES.advice,
  toParams: ({ format: form = 'json', ...selection }) => {
    const params = toHistoryParams(selection)
    return { params, form, key: toKey(params, form) }
  },
  isRecurring: true,
})

/** Returns a cache key: equal for all queries that request the same history. */
function toKey(params: HistoryParams | HistoryRangeParams, form: Format): string {
  const { from, to, period: of = '1M', start, end, interval: each } = params
  return `history ${form} ${from.toUpperCase()} ${to.toUpperCase()} ${[of, start, end, each].join()}`
}

/** Creates `GET /api/v1/history`. */
export function history(
  sources: RateSources,
  responseCaches: ResponseCaches,
  now: () => number,
): Endpoint {
  const representHistory = createHistoryRenderer()
  return (query, request) => {
    const { params, form, key } = parse(query)
    const isPlain = (params.start ?? params.interval) === undefined
    const responseCache = isPlain ? responseCaches.history : responseCaches.dated
    const respond = (freshness: CacheResult<HistorySnapshot>): DataResult | Promise<DataResult> => {
      const { value: data, hit } = freshness
      const instant = now()
      // A window never ends after today, even if later days are published.
      const day = Math.floor(instant / DAY_MS)
      const cached = responseCache.find(data, key, day)
      if (cached) return { representation: cached, freshness }
      const isExpensive = (): boolean => daysIn(params, data) * POINT_BYTES[form] > LARGE_BODY_BYTES
      const make = (): Representation =>
        representHistory(form, pairHistory(data, params, toDay(instant)))
      const work = { data, key, day, hasWaited: !hit, isExpensive, make }
      const made = responseCache.getOrCreateLimited(work, request)
      return made instanceof Promise
        ? made.then((representation) => ({ representation, freshness }))
        : { representation: made, freshness }
    }
    const { from, to, start, end } = params
    return sources.history({ since: start, until: end, codes: [from, to] }, request, respond)
  }
}

/** Returns the approximate number of published days that are read; an interval also reads all of them. */
function daysIn(
  { period: of = '1M', start, end = '9999-12-31' }: HistoryParams | HistoryRangeParams,
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
