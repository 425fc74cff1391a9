import { loadOnce } from '../async.ts'
import type { RatesError, RatesErrorCode } from '../errors.ts'
import type { Gate } from '../http/guard.ts'
import type { EndpointGroup, PostEndpoint } from '../http/response.ts'
import type { QuoteSettings } from '../quotes/settings.ts'
import type { Rates } from '../rates-api.ts'
import type { EndpointContext } from './context.ts'
import type { ManyConversionsOptions } from './convert-many.ts'
import { MAX_COST, costOfDays, costOfQuery } from './costs.ts'
import { history } from './history.ts'
import { convert, latest, unversionedConvert, unversionedRates } from './rates.ts'
import {
  currencies,
  explorerScript,
  index,
  lazyEndpoint,
  openapi,
  referenceSources,
  status,
  usage,
} from './service.ts'

export interface EndpointsOptions extends Omit<
  EndpointContext & ManyConversionsOptions,
  'errorBody' | 'keyNames' | 'quotes'
> {
  rates: Rates
  quotes: QuoteSettings | undefined
  basePath: string
  gate: Gate | undefined
  explorer: boolean
}

/** Error response of the `/v1` endpoints. */
interface ErrorBody {
  error: {
    code: RatesErrorCode
    /** Explanation for people, safe to display. */
    message: string
  }
}

/** Error response of the unversioned endpoints. */
interface UnversionedError {
  /** Explanation for people, safe to display. */
  error: string
}

/** Creates all endpoints. Versioned errors are objects with a code and a message; unversioned errors and sources are plain text. */
export function createEndpoints(options: EndpointsOptions): {
  versioned: EndpointGroup
  unversioned: EndpointGroup
} {
  const { basePath, gate, explorer, now } = options
  const keyNames = gate?.keyRules.queryParameters ?? []
  const quotes = lazyQuotes(options, keyNames)
  const context = { ...options, keyNames, quotes }
  return {
    versioned: {
      endpoints: {
        '/v1': index(context, basePath, gate),
        '/v1/latest': latest(context),
        '/v1/convert': convert(context),
        ...(quotes && { '/v1/quote': lazyEndpoint(async () => (await quotes()).create) }),
        '/v1/history': history(context),
        '/v1/days': lazyEndpoint(async () =>
          (await import('./days.ts')).days({ ...context, errorBody: versionedError }),
        ),
        '/v1/currencies': currencies(context),
        '/v1/sources': referenceSources(context),
        '/v1/status': status(context),
        ...(gate?.hasUsage && { '/v1/usage': usage(context, gate) }),
        '/v1/openapi.json': openapi(context, basePath, gate),
      },
      posts: { '/v1/convert': lazyManyConversions({ ...context, errorBody: versionedError }) },
      costs: {
        // The body of a POST is read after the decision; the rest is given back.
        '/v1/convert': (query, method) => (method === 'POST' ? MAX_COST : costOfQuery(query, now)),
        '/v1/quote': (query) => costOfQuery(query, now),
        '/v1/history': (query) => costOfQuery(query, now),
        '/v1/days': (query) => costOfDays(query, now),
        '/v1': () => 0,
        '/v1/usage': () => 0,
        '/v1/openapi.json': () => 0,
      },
      errorBody: versionedError,
    },
    unversioned: {
      endpoints: {
        '/rates': unversionedRates(context),
        '/convert': unversionedConvert(context),
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

function lazyQuotes(
  { quotes: settings, rates, now }: EndpointsOptions,
  keyNames: readonly string[],
): EndpointContext['quotes'] {
  return (
    settings &&
    loadOnce(async () => {
      const { createQuoteEndpoints } = await import('./quotes.ts')
      return createQuoteEndpoints({ ...settings, rates, now }, keyNames)
    })
  )
}

function lazyManyConversions(options: ManyConversionsOptions): PostEndpoint {
  const load = loadOnce(async () => {
    const { manyConversions } = await import('./convert-many.ts')
    return manyConversions(options)
  })
  return async (query, request) => (await load())(query, request)
}
