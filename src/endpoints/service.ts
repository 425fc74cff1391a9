import { OPERATIONS } from '../api/parameters.ts'
import type { Operation } from '../api/parameters.ts'
import { serviceStatus } from '../api/status.ts'
import { loadOnce } from '../async.ts'
import type { Gate } from '../http/guard.ts'
import { createQueryParser } from '../http/query.ts'
import { bodyHeaders, represent, uncached } from '../http/response.ts'
import type { DataResult, Endpoint, Representation } from '../http/response.ts'
import type { EndpointContext } from './context.ts'

/** Returns `endpoint` with a check that the query has no unknown parameters. */
function withoutParameters(
  { keyNames }: EndpointContext,
  operation: Operation,
  endpoint: Endpoint,
): Endpoint {
  const parse = createQueryParser(operation, keyNames)
  return (query, request) => {
    parse(query)
    return endpoint(query, request)
  }
}

/** Creates `GET /api/v1`: the paths of all endpoints. */
export function index(
  context: EndpointContext,
  basePath: string,
  gate: Gate | undefined,
): Endpoint {
  const endpoint = lazyEndpoint(async () => {
    const { serviceIndex } = await import('./service-index.ts')
    const hidden = [gate?.hasUsage ? '' : 'usage', context.quotes ? '' : 'quote']
    return constant(serviceIndex(basePath, hidden))
  })
  return withoutParameters(context, OPERATIONS.index, endpoint)
}

/** Creates `GET /api/v1/status`: 200 in every state. Starts due refreshes in the background, so that it warms up a cold handler. */
export function status(context: EndpointContext): Endpoint {
  const { sources, now } = context
  const endpoint: Endpoint = () => uncached(serviceStatus(sources, now()))
  return withoutParameters(context, OPERATIONS.status, endpoint)
}

/** Creates `GET /api/v1/usage`: what is left for the key of the request. */
export function usage(context: EndpointContext, gate: Gate): Endpoint {
  const endpoint: Endpoint = async (query, request) =>
    uncached(await gate.usage({ request, query }), ['cache-control', 'private, no-store'])
  return withoutParameters(context, OPERATIONS.usage, endpoint)
}

export function currencies(context: EndpointContext): Endpoint {
  return lazyEndpoint(async () => (await import('./currencies.ts')).currencies(context))
}

export function referenceSources(context: EndpointContext): Endpoint {
  const { sources, now } = context
  const endpoint = lazyEndpoint(async () => {
    const { sourceList } = await import('../api/sources.ts')
    return async () => uncached(await sourceList(sources, now))
  })
  return withoutParameters(context, OPERATIONS.sources, endpoint)
}

export function openapi(
  context: EndpointContext,
  basePath: string,
  gate: Gate | undefined,
): Endpoint {
  const endpoint = lazyEndpoint(async () => {
    const { default: document } = await import('../generated/openapi.json', {
      with: { type: 'json' },
    })
    const described = gate
      ? (await import('./openapi-access.ts')).withAccess(document, gate.keyRules)
      : document
    const body = JSON.stringify({ ...described, servers: [{ url: basePath || '/' }] })
    return constant(represent(body, bodyHeaders({ lifetime: 'hour' })))
  })
  return withoutParameters(context, OPERATIONS.openapi, endpoint)
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
