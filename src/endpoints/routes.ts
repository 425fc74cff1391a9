import type { RatesErrorCode } from '../errors.ts'
import type { ResponseCaches } from '../http/response-cache.ts'
import type { EndpointGroup } from '../http/response.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { unversionedConvert, versionedConvert } from './convert.ts'
import { history } from './history.ts'
import { latest, rates } from './latest.ts'
import { currencies, openapi, status } from './service.ts'

/** Options of `createEndpoints`. */
export interface EndpointsOptions {
  sources: RateSources
  responseCaches: ResponseCaches
  now: () => number
  basePath: string
}

/** Error response of the `/v1` endpoints. */
export interface ErrorBody {
  error: {
    code: RatesErrorCode
    /** Explanation for people, safe to display. */
    message: string
  }
}

/** Error response of the unversioned endpoints. */
export interface UnversionedError {
  /** Explanation for people, safe to display. */
  error: string
}

/** Creates all endpoints. Versioned errors are objects with a code and a message; unversioned errors and sources are plain text. */
export function createEndpoints({ sources, responseCaches, now, basePath }: EndpointsOptions): {
  versioned: EndpointGroup
  unversioned: EndpointGroup
} {
  return {
    versioned: {
      endpoints: {
        '/v1/latest': latest(sources, responseCaches, now),
        '/v1/convert': versionedConvert(sources, now),
        '/v1/history': history(sources, responseCaches, now),
        '/v1/currencies': currencies(sources, now),
        '/v1/status': status(sources, now),
        '/v1/openapi.json': openapi(basePath),
      },
      errorBody: ({ code, message }): ErrorBody => ({ error: { code, message } }),
    },
    unversioned: {
      endpoints: {
        '/rates': rates(sources, responseCaches.latest),
        '/convert': unversionedConvert(sources, now),
      },
      errorBody: ({ summary }): UnversionedError => ({ error: summary }),
    },
  }
}
