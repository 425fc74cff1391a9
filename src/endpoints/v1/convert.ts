import type { Endpoint } from '../../http/endpoint.ts'
import { toSource } from '../../records/source.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { conversionEndpoint } from '../conversion-endpoint.ts'
import { lazyEndpoint } from '../lazy-endpoint.ts'

/** What every query has that asks for more than one conversion at the latest rates in JSON, and hardly any other. */
const MORE = /[,%]|date|format|reverse/i

/** `GET /api/v1/convert` */
export function convert(sources: RateSources, now: () => number): Endpoint {
  const one = conversionEndpoint(sources, ({ table, attribution }) => ({
    updatedAt: table.updatedAt,
    source: toSource(attribution),
  }))
  const more = lazyEndpoint(async () =>
    (await import('./conversions.ts')).conversions(sources, now, one),
  )
  return (query, waiter) => (MORE.test(query) ? more : one)(query, waiter)
}
