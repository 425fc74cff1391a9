import type { Endpoint } from '../../http/endpoint.ts'
import { toSource } from '../../records/source.ts'
import type { RateSources } from '../../sources/sources.ts'
import { conversionEndpoint } from '../conversion-endpoint.ts'

/** `GET /api/v1/convert` */
export function convert(sources: RateSources): Endpoint {
  return conversionEndpoint(sources, ({ table, attribution }) => ({
    updatedAt: table.updatedAt,
    source: toSource(attribution),
  }))
}
