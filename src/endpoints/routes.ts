import type { ResponseCache, ResponseCaches } from '../http/response-cache.ts'
import type { Endpoint, EndpointGroup } from '../http/response.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { conversionEndpoint, versionedConvert } from './convert.ts'
import { history } from './history.ts'
import { latest, rates } from './latest.ts'
import { lazyEndpoint } from './service.ts'
import { providerText } from './unversioned/provider-text.ts'

/** Options of `v1`. */
export interface V1Options {
  sources: RateSources
  responseCaches: ResponseCaches
  now: () => number
  basePath: string
}

/** Creates the v1 endpoints, with errors as objects with a code and a message. */
export function v1({ sources, responseCaches, now, basePath }: V1Options): EndpointGroup {
  return {
    endpoints: {
      '/v1/latest': latest(sources, responseCaches, now),
      '/v1/convert': versionedConvert(sources, now),
      '/v1/history': history(sources, responseCaches, now),
      '/v1/currencies': lazyEndpoint(async () =>
        (await import('./service.ts')).currencies(sources, now),
      ),
      '/v1/status': lazyEndpoint(async () => (await import('./service.ts')).status(sources, now)),
      '/v1/openapi.json': lazyEndpoint(async () =>
        (await import('./service.ts')).openapi(basePath),
      ),
    },
    errorBody: ({ code, message }) => ({ error: { code, message } }),
  }
}

/** Creates the unversioned endpoints, with errors and sources as plain text. */
export function unversioned(sources: RateSources, responseCache: ResponseCache): EndpointGroup {
  return {
    endpoints: {
      '/rates': rates(sources, responseCache),
      '/convert': unversionedConvert(sources),
    },
    errorBody: ({ summary }) => ({ error: summary }),
  }
}

/** Creates `GET /api/convert`. */
function unversionedConvert(sources: RateSources): Endpoint {
  return conversionEndpoint(sources, ({ table, attribution }) => ({
    updatedAt: table.updatedAt,
    provider: providerText(attribution),
  }))
}
