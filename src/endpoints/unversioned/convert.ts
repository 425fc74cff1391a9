import type { Endpoint } from '../../http/endpoint.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { conversionEndpoint } from '../conversion-endpoint.ts'
import { providerText } from './provider-text.ts'

/** Creates `GET /api/convert`. */
export function convert(sources: RateSources): Endpoint {
  return conversionEndpoint(sources, ({ table, attribution }) => ({
    updatedAt: table.updatedAt,
    provider: providerText(attribution),
  }))
}
