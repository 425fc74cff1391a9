import { serviceStatus } from '../api/status.ts'
import { loadOnce } from '../async.ts'
import type { Guard } from '../http/guard.ts'
import { bodyHeaders, represent, uncached } from '../http/response.ts'
import type { DataResult, Endpoint, Representation } from '../http/response.ts'
import { toDay } from '../rates/dates.ts'
import type { RateSources } from '../sources/rate-sources.ts'

/** Creates `GET /api/v1/status`: 200 in every state. Starts due refreshes in the background, so that it warms up a cold handler. */
export function status(sources: RateSources, now: () => number): Endpoint {
  return () => uncached(serviceStatus(sources, now()))
}

export function currencies(sources: RateSources, now: () => number): Endpoint {
  return lazyEndpoint(async () => {
    const { loadCurrencyData, toCurrencyList } = await import('../api/currencies.ts')
    const headers = bodyHeaders({ lifetime: 'minute' })
    let last: { data: readonly unknown[]; representation: Representation } | undefined
    return async (_query, request) => {
      const both = await loadCurrencyData(sources, request)
      const list = (): object => toCurrencyList(both, toDay(now()))
      const results = [both.latest, both.history].filter((result) => result !== null)
      const known = results.filter((result) => result !== undefined)
      // Unknown coverage may be known at the next request.
      if (known.length < results.length) return uncached(list())
      const freshness = {
        hit: known.every(({ hit }) => hit),
        ttl: Math.min(...known.map(({ ttl }) => ttl)),
      }
      const data = [both.latest?.value, both.history?.value]
      // The covered codes change with the data, and hardly ever with the day; those of a fallback table expire separately.
      const isCached =
        !both.latest?.value.fallback &&
        !both.publications &&
        data.every((value, index) => value === last?.data[index])
      if (!last || !isCached)
        last = { data, representation: represent(JSON.stringify(list()), headers) }
      return { representation: last.representation, freshness }
    }
  })
}

export function referenceSources(sources: RateSources, now: () => number): Endpoint {
  return lazyEndpoint(async () => {
    const { sourceList } = await import('../api/sources.ts')
    return async (_query, request) => uncached(await sourceList(sources, now, request))
  })
}

export function openapi(basePath: string, guard: Guard | undefined): Endpoint {
  return lazyEndpoint(async () => {
    const { default: document } = await import('../generated/openapi.json', {
      with: { type: 'json' },
    })
    const described = guard
      ? (await import('./openapi-access.ts')).withAccess(document, guard.keyRules)
      : document
    const body = JSON.stringify({ ...described, servers: [{ url: basePath || '/' }] })
    return constant(represent(body, bodyHeaders({ lifetime: 'hour' })))
  })
}

export function explorerPage(basePath: string): Endpoint {
  return lazyEndpoint(async () => {
    const { contentSecurityPolicy, html } = await import('../generated/explorer-page.ts')
    const headers = bodyHeaders({ form: 'html', lifetime: 'checked' })
    headers.push(
      ['content-security-policy', contentSecurityPolicy],
      ['referrer-policy', 'no-referrer'],
    )
    const root = basePath.replaceAll('&', '&amp;')
    return constant(represent(html.replaceAll('{base}', root), headers))
  })
}

export function explorerScript(): Endpoint {
  return lazyEndpoint(async () => {
    const { script } = await import('../generated/explorer-api.ts')
    return constant(represent(script, bodyHeaders({ form: 'js', lifetime: 'checked' })))
  })
}

function constant(representation: Representation): () => DataResult {
  return () => ({ representation })
}

/** Creates an endpoint whose code `load` imports on the first request; retries a failed import on the next request. */
export function lazyEndpoint(load: () => Promise<Endpoint>): Endpoint {
  const loaded = loadOnce(load)
  return async (query, request) => (await loaded())(query, request)
}
