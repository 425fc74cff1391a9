import { loadBoth, toCurrencyList } from '../api/currencies.ts'
import type { CurrencyList } from '../api/currencies.ts'
import { toServiceStatus } from '../api/status.ts'
import { contentSecurityPolicy, html } from '../generated/explorer-page.ts'
import document from '../generated/openapi.json' with { type: 'json' }
import { memoizeLast } from '../http/response-cache.ts'
import { bodyHeaders, represent, uncached } from '../http/response.ts'
import type { Endpoint, Representation } from '../http/response.ts'
import { toDay } from '../rates/dates.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { RateSources } from '../sources/rate-sources.ts'

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

/** Creates `GET /api/v1/status`: 200 in every state. Starts due refreshes in the background, so that it warms up a cold handler. */
export function status(sources: RateSources, now: () => number): Endpoint {
  return async () => {
    sources.refreshInBackground()
    return uncached(toServiceStatus(sources.state(), now()))
  }
}

/** Creates `GET /api/v1/openapi.json`: the OpenAPI document of the API at `basePath`. */
export function openapi(basePath: string): Endpoint {
  const body = JSON.stringify({ ...document, servers: [{ url: basePath || '/' }] })
  const representation = represent(body, bodyHeaders({ lifetime: 'hour' }))
  return () => ({ representation })
}

/** Creates `GET /api`, if the explorer is enabled: a page to try the API in a browser. */
export function explorerPage(): Endpoint {
  const representation = represent(html, [
    ...bodyHeaders({ form: 'html', lifetime: 'checked' }),
    ['content-security-policy', contentSecurityPolicy],
    ['referrer-policy', 'no-referrer'],
  ])
  return () => ({ representation })
}

/** Creates an endpoint whose code `load` imports on the first request; retries a failed import on the next request. */
export function lazyEndpoint(load: () => Promise<Endpoint>): Endpoint {
  let loaded: Promise<Endpoint> | undefined
  return async (query, request) => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return (await loaded)(query, request)
  }
}
