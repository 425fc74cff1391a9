import type { Endpoint } from '../../http/endpoint.ts'
import { rememberLast } from '../../http/remember-last.ts'
import { deliveryHeaders, represent } from '../../http/representation.ts'
import { uncached } from '../../http/respond.ts'
import { toDay } from '../../rates/day.ts'
import { askBoth, currenciesRecord } from '../../records/currencies.ts'
import type { CurrenciesRecord } from '../../records/currencies.ts'
import type { HistorySnapshot } from '../../sources/history-source.ts'
import type { LatestSnapshot } from '../../sources/latest-source.ts'
import type { RateSources } from '../../sources/sources.ts'

const HEADERS = deliveryHeaders({ lifetime: 'minute' })

/** `GET /api/v1/currencies` */
export function currencies(sources: RateSources, now: () => number): Endpoint {
  const recordOf = (latest?: LatestSnapshot, history?: HistorySnapshot): CurrenciesRecord =>
    currenciesRecord(latest, history, toDay(now()))
  // Which codes are covered changes with the data, and hardly with the day on which they are read.
  const represented = rememberLast((latest: LatestSnapshot) =>
    rememberLast((history: HistorySnapshot) =>
      represent(JSON.stringify(recordOf(latest, history)), HEADERS),
    ),
  )
  return async (_query, waiter) => {
    const { latest, history } = await askBoth(sources, waiter)
    // What is unknown now may be known with the next request.
    if (!latest || !history) return uncached(recordOf(latest?.value, history?.value))
    const reading = { hit: latest.hit && history.hit, ttl: Math.min(latest.ttl, history.ttl) }
    // What a reserve covers ends at its own time.
    const representation = latest.value.reserve
      ? represent(JSON.stringify(recordOf(latest.value, history.value)), HEADERS)
      : represented(latest.value)(history.value)
    return { representation, reading }
  }
}
