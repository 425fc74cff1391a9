import type { Endpoint } from '../../http/endpoint.ts'
import { toSource } from '../../records/source.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { conversionEndpoint } from '../conversion-endpoint.ts'
import { lazyEndpoint } from '../lazy-endpoint.ts'

/** Matches every query for a list, a date, `reverse` or CSV, and few others. */
const MAYBE_EXTENDED = /[,%]|date|format|reverse/i

/** Creates `GET /api/v1/convert`. */
export function convert(sources: RateSources, now: () => number): Endpoint {
  const one = conversionEndpoint(sources, ({ table, attribution }) => ({
    updatedAt: table.updatedAt,
    source: toSource(attribution),
  }))
  const extended = lazyEndpoint(async () =>
    (await import('./conversions.ts')).conversions(sources, now, one),
  )
  return (query, request) => (MAYBE_EXTENDED.test(query) ? extended : one)(query, request)
}
