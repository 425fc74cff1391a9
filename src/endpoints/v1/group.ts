import type { EndpointGroup } from '../../http/endpoint.ts'
import type { ResponseCaches } from '../../http/response-cache.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { lazyEndpoint } from '../lazy-endpoint.ts'
import { convert } from './convert.ts'
import { history } from './history.ts'
import { latest } from './latest.ts'

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
      '/v1/convert': convert(sources, now),
      '/v1/history': history(sources, responseCaches, now),
      '/v1/currencies': lazyEndpoint(async () =>
        (await import('./currencies.ts')).currencies(sources, now),
      ),
      '/v1/status': lazyEndpoint(async () => (await import('./status.ts')).status(sources, now)),
      '/v1/openapi.json': lazyEndpoint(async () =>
        (await import('./openapi.ts')).openapi(basePath),
      ),
    },
    errorBody: ({ code, message }) => ({ error: { code, message } }),
  }
}
