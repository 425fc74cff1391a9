import { RatesError, toRatesError } from '../errors.ts'
import { CORS_HEADERS, withCors } from './cors.ts'
import type { EndpointResult } from './endpoint.ts'
import type { Limiter } from './limiter.ts'
import type { EndpointResponse, RawRequest, RawResponse } from './raw.ts'
import { failure, meetsIfMatch, options, revalidated, success } from './respond.ts'
import { createRouteTable } from './route-table.ts'
import type { Route, RouteTableOptions } from './route-table.ts'
import { splitTarget } from './target.ts'

/** Longer queries are expensive to parse and may request many conversions. */
const MAX_CHEAP_QUERY_LENGTH = 512

/** Options of `createRouter`. */
export interface RouterOptions extends RouteTableOptions {
  limiter: Limiter
  /** Called with every error that becomes a 500. */
  onInternalError(error: unknown): void
}

/** Creates a function that responds to every request and never rejects. */
export function createRouter(
  routerOptions: RouterOptions,
): (request: RawRequest) => Promise<RawResponse> {
  const { limiter, onInternalError } = routerOptions
  const routes = createRouteTable(routerOptions)

  return async (request) => {
    let route = routes.outside
    let response: EndpointResponse
    let method = ''
    try {
      const { path, query } = splitTarget(request.target)
      method = request.method
      // Synchronous results are not awaited: a promise takes longer than the rest of the response.
      route = routes.findCached(path) ?? (await routes.find(path))
      const result =
        query.length > MAX_CHEAP_QUERY_LENGTH && route.endpoint
          ? runLimited(limiter, route, query, request)
          : runEndpoint(route, query, request)
      response = render(result instanceof Promise ? await result : result, route, request)
    } catch (thrown) {
      const error = toRatesError(thrown)
      if (error.code === 'internal_error') onInternalError(error.cause)
      const failed = failure(error, route.group.errorBody(error))
      response = route.isOpen ? withCors(failed) : failed
    }
    const { status, headers, body } = response
    const matched = route.endpoint !== undefined
    return { status, headers, body: method === 'HEAD' ? null : body, matched }
  }
}

/** Limits only the parsing of the query, not the wait for data. */
async function runLimited(
  limiter: Limiter,
  route: Route,
  query: string,
  request: RawRequest,
): Promise<EndpointResult> {
  const start = () => ({ result: runEndpoint(route, query, request) })
  const { result } = await limiter.run(start, request)
  return result
}

function runEndpoint(
  { endpoint, isVersioned }: Route,
  query: string,
  request: RawRequest,
): EndpointResult | Promise<EndpointResult> {
  const { method } = request
  // A preflight for an unknown path succeeds, so that the browser sees the 404 of the actual request.
  if (method === 'OPTIONS' && (endpoint || isVersioned)) return options()
  if (!endpoint) throw new RatesError('not_found', 'Not found')
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RatesError('method_not_allowed', 'Method not allowed')
  }
  return endpoint(query, request)
}

function render(
  result: EndpointResult,
  { isOpen }: Route,
  { header }: RawRequest,
): EndpointResponse {
  const response = toEndpointResponse(result, isOpen)
  if (response.status !== 200) return response
  if (!meetsIfMatch(response, header('if-match'))) {
    const message = 'Precondition failed: If-Match does not name the current ETag'
    throw new RatesError('precondition_failed', message)
  }
  return revalidated(response, header('if-none-match'))
}

function toEndpointResponse(result: EndpointResult, isOpen: boolean): EndpointResponse {
  if ('representation' in result) return success(result, isOpen ? CORS_HEADERS : [])
  return isOpen ? withCors(result) : result
}
