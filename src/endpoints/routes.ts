import { loadOnce } from '../async.ts'
import type { RatesError, RatesErrorCode } from '../errors.ts'
import type { Guard } from '../http/guard.ts'
import type { ResponseCaches } from '../http/response-cache.ts'
import type { EndpointGroup, PostEndpoint } from '../http/response.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import type { ManyConversionsOptions } from './convert-many.ts'
import { unversionedConvert, versionedConvert } from './convert.ts'
import { history } from './history.ts'
import { latest, rates } from './latest.ts'
import { MAX_COST, costOfCodes, costOfConversion } from './costs.ts'
import { currencies, explorerScript, openapi, referenceSources, status } from './service.ts'

export interface EndpointsOptions extends Omit<ManyConversionsOptions, 'errorBody'> {
  sources: RateSources
  responseCaches: ResponseCaches
  now: () => number
  basePath: string
  guard: Guard | undefined
  explorer: boolean
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
export function createEndpoints(options: EndpointsOptions): {
  versioned: EndpointGroup
  unversioned: EndpointGroup
} {
  const { sources, responseCaches, now, basePath, guard, explorer } = options
  return {
    versioned: {
      endpoints: {
        '/v1/latest': latest(sources, responseCaches, now),
        '/v1/convert': versionedConvert(sources, responseCaches.conversions, now),
        '/v1/history': history(sources, responseCaches, now),
        '/v1/currencies': currencies(sources, now),
        '/v1/sources': referenceSources(sources, now),
        '/v1/status': status(sources, now),
        '/v1/openapi.json': openapi(basePath, guard),
      },
      posts: { '/v1/convert': lazyManyConversions(options) },
      costs: {
        // The body of a POST is read after the decision; the rest is given back.
        '/v1/convert': (query, method) => (method === 'POST' ? MAX_COST : costOfConversion(query)),
        '/v1/history': costOfCodes,
        '/v1/openapi.json': () => 0,
      },
      errorBody: versionedError,
    },
    unversioned: {
      endpoints: {
        '/rates': rates(sources, responseCaches.latest),
        '/convert': unversionedConvert(sources, responseCaches.unversionedConversions, now),
        ...(explorer && { '/explorer-api.js': explorerScript() }),
      },
      // Browsers send no key for a script.
      costs: { '/explorer-api.js': () => 0 },
      errorBody: ({ summary }): UnversionedError => ({ error: summary }),
    },
  }
}

function versionedError({ code, message }: RatesError): ErrorBody {
  return { error: { code, message } }
}

function lazyManyConversions(options: EndpointsOptions): PostEndpoint {
  const load = loadOnce(async () => {
    const { manyConversions } = await import('./convert-many.ts')
    return manyConversions({ ...options, errorBody: versionedError })
  })
  return async (query, request) => (await load())(query, request)
}
