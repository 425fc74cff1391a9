import { RatesError, toRatesError } from '../errors.ts'
import type { RawResponse, RawRequest, EndpointResponse } from './raw.ts'
import { CORS_HEADERS, withCors } from './cors.ts'
import type { EndpointResult } from './endpoint.ts'
import type { Limiter } from './limiter.ts'
import { createRouteTable } from './route-table.ts'
import type { Route, RouteTableOptions } from './route-table.ts'
import { failure, meetsIfMatch, options, revalidated, success } from './respond.ts'
import { splitTarget } from './target.ts'

/** A query of more characters is expensive to read, and may ask for many conversions. */
const MAX_CHEAP_QUERY_LENGTH = 512

/** What the router is made from. */
export interface RouterOptions extends RouteTableOptions {
  limiter: Limiter
  /** Told of what became a 500. */
  onInternalError(error: unknown): void
}

/** A function that answers any request and never rejects. */
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
      // What is there already is not awaited: a promise is a turn and dearer than the answer.
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

/** Only the reading of a query takes a turn, not the wait for data. */
async function runLimited(
  limiter: Limiter,
  route: Route,
  query: string,
  request: RawRequest,
): Promise<EndpointResult> {
  const read = () => ({ result: runEndpoint(route, query, request) })
  const { result } = await limiter.run(read, request)
  return result
}

function runEndpoint(
  { endpoint, isVersioned }: Route,
  query: string,
  request: RawRequest,
): EndpointResult | Promise<EndpointResult> {
  const { method } = request
  // A preflight of an unknown path succeeds, so that the browser sees the 404 of the request itself.
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
