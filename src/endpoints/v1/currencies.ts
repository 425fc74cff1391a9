import type { Endpoint } from '../../http/endpoint.ts'
import { memoizeLast } from '../../http/memoize-last.ts'
import { bodyHeaders, represent } from '../../http/representation.ts'
import type { Representation } from '../../http/representation.ts'
import { uncached } from '../../http/respond.ts'
import { toDay } from '../../rates/day.ts'
import { loadBoth, toCurrencyList } from '../../records/currencies.ts'
import type { CurrencyList } from '../../records/currencies.ts'
import type { HistorySnapshot } from '../../sources/history-source.ts'
import type { LatestSnapshot } from '../../sources/latest-source.ts'
import type { RateSources } from '../../sources/rate-sources.ts'

const HEADERS = bodyHeaders({ lifetime: 'minute' })

/** Creates `GET /api/v1/currencies`. */
export function currencies(sources: RateSources, now: () => number): Endpoint {
  const listOf = (
    latest: LatestSnapshot | null | undefined,
    history: HistorySnapshot | null | undefined,
  ): CurrencyList => toCurrencyList(latest, history, toDay(now()))
  const representOf = (
    latest: LatestSnapshot | null,
    history: HistorySnapshot | null,
  ): Representation => represent(JSON.stringify(listOf(latest, history)), HEADERS)
  // The covered codes change with the data, and hardly ever with the day of the request.
  const cachedRepresentation = memoizeLast((latest: LatestSnapshot) =>
    memoizeLast((history: HistorySnapshot) => representOf(latest, history)),
  )
  return async (_query, request) => {
    const both = await loadBoth(sources, request)
    const latest = both.latest && both.latest.value
    const history = both.history && both.history.value
    // Unknown coverage may be known at the next request.
    if (latest === undefined || history === undefined) return uncached(listOf(latest, history))
    const results = [both.latest, both.history].filter((result) => !!result)
    const freshness = {
      hit: results.every(({ hit }) => hit),
      ttl: Math.min(...results.map(({ ttl }) => ttl)),
    }
    // The codes of a fallback table expire separately.
    const isCacheable = latest && history && !latest.fallback
    const representation = isCacheable
      ? cachedRepresentation(latest)(history)
      : representOf(latest, history)
    return { representation, freshness }
  }
}
