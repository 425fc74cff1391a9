import { RatesError, toRatesError } from '../errors.ts'
import type { Limiter } from './limiter.ts'
import type { EndpointResponse, RawRequest, RawResponse } from './messages.ts'
import {
  CORS_HEADERS,
  failure,
  meetsIfMatch,
  options,
  revalidated,
  success,
  withCors,
} from './response.ts'
import type { Endpoint, EndpointGroup, EndpointResult, PostEndpoint } from './response.ts'
import { Router } from 'itty-router/Router'

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
      const failed = failure(error, route.group.errorBody(error), Boolean(route.post))
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
  route: Route,
  query: string,
  request: RawRequest,
): EndpointResult | Promise<EndpointResult> {
  const { method } = request
  const { endpoint, post, isVersioned } = route
  // A preflight for an unknown path succeeds, so that the browser sees the 404 of the actual request.
  if (method === 'OPTIONS' && (endpoint || isVersioned)) return options(Boolean(post))
  if (!endpoint) throw new RatesError('not_found', 'Not found')
  if (method === 'POST' && post) return post(query, request)
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

/** The paths of a service. */
interface RouteTableOptions {
  /** Prefix of every path: absolute without a trailing slash, or empty. */
  basePath: string
  /** Endpoints below `/v<digits>`; paths outside the base path use their error format too. */
  versioned: EndpointGroup
  /** All other endpoints below the base path. */
  unversioned: EndpointGroup
  /** Page at the base path itself, with or without a trailing slash. */
  page?: Endpoint | undefined
  /** Which endpoints send CORS headers. */
  cors: 'v1' | 'all' | 'off'
}

/** The route of a path. */
interface Route {
  group: EndpointGroup
  /** Whether unknown paths accept `OPTIONS`. */
  isVersioned: boolean
  /** Whether responses have CORS headers. */
  isOpen: boolean
  /** Undefined for an unknown path. */
  endpoint: Endpoint | undefined
  post?: PostEndpoint | undefined
}

/** Finds the route of a path. Matches exactly: case-sensitive, undecoded, no trailing slash. */
interface RouteTable {
  /** Route of paths outside the base path. */
  outside: Route
  /** Returns the route of an endpoint found before, without a promise. */
  findCached(path: string): Route | undefined
  find(path: string): Promise<Route>
}

/** Creates a route table. */
function createRouteTable({
  basePath,
  versioned,
  unversioned,
  page,
  cors,
}: RouteTableOptions): RouteTable {
  const router = Router()
  for (const group of [versioned, unversioned]) {
    for (const [path, endpoint] of Object.entries(group.endpoints)) {
      router.all(path, () => endpoint)
    }
  }
  const found = new Map<string, Route>()
  const openToAll = cors === 'all'
  const outside: Route = {
    group: versioned,
    isVersioned: false,
    isOpen: openToAll,
    endpoint: undefined,
  }

  async function endpointAt(local: string): Promise<Endpoint | undefined> {
    if (local === '' || local === '/') return page
    // itty-router also matches paths with trailing slashes.
    if (local.endsWith('/')) return undefined
    return router.fetch({ method: 'GET', url: `http://localhost${local}` })
  }

  return {
    outside,
    findCached: (path) => found.get(path),
    async find(path) {
      const isBelow = path === basePath || path.startsWith(`${basePath}/`)
      if (!isBelow) return outside
      const local = path.slice(basePath.length)
      const isVersioned = /^\/v\d+(\/|$)/.test(local)
      const endpoint = await endpointAt(local)
      const group = isVersioned ? versioned : unversioned
      const route: Route = {
        group,
        isVersioned,
        isOpen: openToAll || (cors === 'v1' && isVersioned),
        endpoint,
        post: endpoint && group.posts?.[local],
      }
      // Unknown paths are not cached: their number is unlimited.
      if (endpoint) found.set(path, route)
      return route
    },
  }
}

/** Path and query of a request target, undecoded. */
export interface Target {
  path: string
  /** Without the question mark. */
  query: string
}

/**
 * Splits a request target into path and query. Accepts origin-form (`/path?query`), and absolute-form with http or https,
 * whose authority is ignored. Does not use `URL` first, because a hostile `Host` can make `request.url` relative or
 * unparsable (Bun, Deno). Normalizes a raw target as `Request` does: resolves dot segments, turns backslashes into slashes
 * and drops the fragment.
 */
export function splitTarget(target: string): Target {
  const local = target.startsWith('/') ? target : target.replace(/^https?:[/\\]*[^/\\?#]*/i, '')
  const plain = /^(\/[\w/~!$&'()*+,;=:@-]*)(?:\?([\x21\x22\x24-\x7e]*))?$/.exec(local)
  if (plain) return { path: plain[1] ?? '', query: plain[2] ?? '' }
  // With an authority in front, a leading double slash is part of the path.
  const url = `http://localhost${local}`
  if (!/^([/\\?#]|$)/.test(local) || !URL.canParse(url)) return { path: local, query: '' }
  const { pathname, search } = new URL(url)
  return { path: pathname, query: search.slice(1) }
}

/**
 * Checks that requests can have a path below `basePath`.
 *
 * @throws {TypeError} unless it is empty, or an absolute path without a trailing slash that `URL` does not change
 */
export function assertBasePath(basePath: string): void {
  if (basePath === '') return
  const isUsable =
    /^(\/[^/]+)+$/.test(basePath) &&
    URL.canParse(`http://localhost${basePath}`) &&
    // No request could have a path that `URL` normalizes or cuts at a question mark.
    new URL(`http://localhost${basePath}`).pathname === basePath
  if (isUsable) return
  throw new TypeError(
    `basePath must be '' or an absolute path without a trailing slash, got ${String(basePath)}`,
  )
}
