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

/** `GET /api/v1/currencies` */
export function currencies(sources: RateSources, now: () => number): Endpoint {
  const recordOf = (
    latest: LatestSnapshot | null | undefined,
    history: HistorySnapshot | null | undefined,
  ): CurrencyList => toCurrencyList(latest, history, toDay(now()))
  const representOf = (
    latest: LatestSnapshot | null,
    history: HistorySnapshot | null,
  ): Representation => represent(JSON.stringify(recordOf(latest, history)), HEADERS)
  // Which codes are covered changes with the data, and hardly with the day on which they are read.
  const represented = memoizeLast((latest: LatestSnapshot) =>
    memoizeLast((history: HistorySnapshot) => representOf(latest, history)),
  )
  return async (_query, waiter) => {
    const both = await loadBoth(sources, waiter)
    const latest = both.latest && both.latest.value
    const history = both.history && both.history.value
    // What is unknown now may be known with the next request.
    if (latest === undefined || history === undefined) return uncached(recordOf(latest, history))
    const results = [both.latest, both.history].filter((result) => !!result)
    const freshness = {
      hit: results.every(({ hit }) => hit),
      ttl: Math.min(...results.map(({ ttl }) => ttl)),
    }
    // What a reserve covers ends at its own time.
    const isRemembered = latest && history && !latest.fallback
    const representation = isRemembered
      ? represented(latest)(history)
      : representOf(latest, history)
    return { representation, freshness }
  }
}
