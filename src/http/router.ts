import type { Runtime } from '../async.ts'
import { RatesError, toRatesError } from '../errors.ts'
import { NO_CORS, createCors } from './cors.ts'
import type { Cors, CorsRules } from './cors.ts'
import type { Admission, Guard } from './guard.ts'
import { overloaded } from './limiter.ts'
import type { Limiter } from './limiter.ts'
import { isCounted, statusFor } from './messages.ts'
import type { EndpointResponse, Header, RawRequest, RawResponse } from './messages.ts'
import { failure, meetsIfMatch, options, revalidated, success } from './response.ts'
import type {
  Endpoint,
  EndpointGroup,
  EndpointResult,
  PostEndpoint,
  PostResponse,
} from './response.ts'
import { Router } from 'itty-router/Router'

/** Longer queries are expensive to parse and may request many conversions; all currencies of a feed take 620 characters. */
const MAX_CHEAP_QUERY_LENGTH = 768

/** Requests that wait for data or for a body; those with cached data never wait. */
const MAX_WAITING_REQUESTS = 10_000

export interface RouterOptions extends RouteTableOptions {
  limiter: Limiter
  runtime: Runtime
  onOverload(waiting: number): void
  onInternalError(error: unknown, requestId?: string): void
  /** Called after every response to a path of the API; `startedAt` is what `start` returned. */
  observer: ResponseObserver
}

export interface ObservedResponse extends Pick<EndpointResponse, 'status' | 'body'> {
  /** Path of the endpoint below the base path; empty for the page at the base path. */
  route: string
  request: RawRequest
  startedAt: number
}

export interface ResponseObserver {
  /** Whether anything observes. A property, because most handlers have no observer. */
  readonly isActive: boolean
  /** Returns the time on any clock, in ms. */
  start(): number
  end(response: ObservedResponse): void
}

/** Responds to every request, and never rejects. */
export interface RequestRouter {
  /** Returns a promise only if the response has to wait: a promise takes longer than the rest of a cached response. */
  answer(request: RawRequest): RawResponse | Promise<RawResponse>
  waiting(): number
}

interface Exchange {
  readonly request: RawRequest
  /** What `observer.start` returned; undefined if nothing observes. */
  readonly startedAt: number | undefined
  method: string
  route: Route
  query: string
  admission: Admission | undefined
}

export function createRouter(routerOptions: RouterOptions): RequestRouter {
  const { onInternalError, observer } = routerOptions
  const routes = createRouteTable(routerOptions)
  const waits = createWaitLimit(routerOptions)
  const respond = createResponder(routerOptions, routes, waits)

  function answer(request: RawRequest): RawResponse | Promise<RawResponse> {
    const startedAt = observer.isActive ? observer.start() : undefined
    const { outside: route } = routes
    const exchange = { request, startedAt, method: '', route, query: '', admission: undefined }
    let response: PostResponse | Promise<PostResponse>
    try {
      response = respond(exchange)
    } catch (error) {
      response = failed(exchange, error)
    }
    return response instanceof Promise
      ? finishLater(exchange, response)
      : finish(exchange, response, observer)
  }

  async function finishLater(
    exchange: Exchange,
    response: Promise<PostResponse>,
  ): Promise<RawResponse> {
    const ended = await response.catch((error: unknown) => failed(exchange, error))
    return finish(exchange, ended, observer)
  }

  function failed({ request, route }: Exchange, thrown: unknown): PostResponse {
    const error = toRatesError(thrown)
    if (error.code === 'internal_error') onInternalError(error.cause, request.requestId)
    const response = failure(error, route.group.errorBody(error), Boolean(route.post))
    return withCors(response, route.cors.constant)
  }

  return { answer, waiting: waits.count }
}

function createResponder(
  { limiter, guard, basePath }: Pick<RouterOptions, 'limiter' | 'guard' | 'basePath'>,
  routes: RouteTable,
  waits: ReturnType<typeof createWaitLimit>,
): (exchange: Exchange) => PostResponse | Promise<PostResponse> {
  async function found(exchange: Exchange, route: Promise<Route>): Promise<PostResponse> {
    return admitted(exchange, await route)
  }

  function admitted(exchange: Exchange, route: Route): PostResponse | Promise<PostResponse> {
    exchange.route = route
    const decision = guard && admit(guard, exchange)
    if (!(decision instanceof Promise)) return run(exchange, decision)
    return waits.waitToAdmit(decision).then((admission) => run(exchange, admission))
  }

  /** Limits only the parsing of the query, not the wait for data. */
  async function runLimited(exchange: Exchange): Promise<EndpointResult> {
    const start = () => ({ result: runEndpoint(exchange, basePath) })
    const { signal } = exchange.request
    const { result } = await limiter.run(start, { signal })
    return result
  }

  function run(
    exchange: Exchange,
    admission: Admission | undefined,
  ): PostResponse | Promise<PostResponse> {
    exchange.admission = admission
    if (admission?.refusal) throw admission.refusal
    const { query, route } = exchange
    const isLimited = query.length > MAX_CHEAP_QUERY_LENGTH && route.endpoint !== undefined
    const result = isLimited ? runLimited(exchange) : runEndpoint(exchange, basePath)
    if (!(result instanceof Promise)) return render(result, exchange)
    return waits.waitFor(result).then((ended) => render(ended, exchange))
  }

  return (exchange) => {
    const { target, method } = exchange.request
    exchange.method = method
    const start = target.indexOf('?')
    const known = routes.findCached(start < 0 ? target : target.slice(0, start))
    // The path of a known route needs no normalization.
    if (known && (start < 0 || isPlainQuery(target, start + 1))) {
      if (start >= 0) exchange.query = target.slice(start + 1)
      return admitted(exchange, known)
    }
    const { path, query } = splitTarget(target)
    exchange.query = query
    const route = routes.findCached(path)
    return route ? admitted(exchange, route) : found(exchange, routes.find(path))
  }
}

function finish(
  { request, route, method, admission, startedAt }: Exchange,
  plain: PostResponse,
  observer: ResponseObserver,
): RawResponse {
  let { status, headers, body } = completed(plain, route, request)
  if (admission) {
    const cost = statusFor(request, plain) === plain.status ? plain.cost : 1
    ;({ status, headers, body } = admission.finish({ status, headers, body }, cost))
  }
  if (method === 'HEAD') body = null
  const matched = route.endpoint !== undefined
  if (startedAt !== undefined && matched && !isCounted(request)) {
    observer.end({
      route: route.path,
      request,
      status: statusFor(request, plain),
      body,
      startedAt,
    })
  }
  return { status, headers, body, matched }
}

function createWaitLimit({ runtime, onOverload }: Pick<RouterOptions, 'runtime' | 'onOverload'>) {
  let waiting = 0

  async function waitFor<Result>(result: Promise<Result>): Promise<Result> {
    if (waiting >= MAX_WAITING_REQUESTS) {
      result.catch(() => undefined)
      onOverload(waiting)
      throw overloaded(runtime)
    }
    waiting += 1
    try {
      return await result
    } finally {
      waiting -= 1
    }
  }

  return {
    count: () => waiting,
    waitFor,
    /** Waits for a guard, which never rejects; what it takes for a refused request is given back. */
    async waitToAdmit(admission: Promise<Admission>): Promise<Admission> {
      try {
        return await waitFor(admission)
      } catch (error) {
        void admission.then((late) => late.finish({ status: 503, headers: [], body: null }))
        throw error
      }
    },
  }
}

/** Passes a request to an endpoint that costs something to `guard`; a preflight has no key and costs nothing. */
function admit(
  guard: Guard,
  { request, method, route, query }: Exchange,
): Admission | Promise<Admission> | undefined {
  if (!route.endpoint || method === 'OPTIONS' || isCounted(request)) return undefined
  const cost = route.cost?.(query, method) ?? 1
  return cost > 0 ? guard.admit({ request, query, cost }) : undefined
}

function runEndpoint(
  { request, method, route, query }: Exchange,
  basePath: string,
): EndpointResult | Promise<EndpointResult> {
  const { endpoint, post, isVersioned } = route
  // A preflight for an unknown path succeeds, so that the browser sees the 404 of the actual request.
  if (method === 'OPTIONS' && (endpoint || isVersioned)) return options(Boolean(post))
  if (!endpoint) throw new RatesError('not_found', 'Not found', { hint: `see ${basePath}/v1` })
  if (method === 'POST' && post) return post(query, request)
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RatesError('method_not_allowed', 'Method not allowed')
  }
  return endpoint(query, request)
}

function render(result: EndpointResult, { route, request }: Exchange): EndpointResponse {
  const response =
    'representation' in result
      ? success(result, route.cors.constant)
      : withCors(result, route.cors.constant)
  if (response.status !== 200) return response
  if (!meetsIfMatch(response, request.header('if-match'))) {
    const message = 'Precondition failed: If-Match does not name the current ETag'
    throw new RatesError('precondition_failed', message)
  }
  return revalidated(response, request.header('if-none-match'))
}

function withCors(response: PostResponse, constant: readonly Header[]): PostResponse {
  return { ...response, headers: [...response.headers, ...constant] }
}

/** Adds CORS headers that depend on the request; none if its headers cannot be read. */
function completed(response: PostResponse, { cors }: Route, request: RawRequest): EndpointResponse {
  if (!cors.dependsOnRequest && response.status !== 204) return response
  try {
    return cors.complete(response, request)
  } catch {
    return response
  }
}

interface RouteTableOptions {
  /** Prefix of every path: absolute without a trailing slash, or empty. */
  basePath: string
  /** Endpoints below `/v<digits>`; paths outside the base path use their error format too. */
  versioned: EndpointGroup
  unversioned: EndpointGroup
  /** Page at the base path itself, with or without a trailing slash. */
  page?: Endpoint | undefined
  cors: Cors
  guard: Guard | undefined
}

interface Route {
  /** Path below the base path; empty for the page and for unknown paths. */
  path: string
  group: EndpointGroup
  /** Whether unknown paths accept `OPTIONS`. */
  isVersioned: boolean
  cors: CorsRules
  /** Undefined for an unknown path. */
  endpoint: Endpoint | undefined
  post?: PostEndpoint | undefined
  cost?: ((query: string, method: string) => number) | undefined
}

const NO_ROUTE = { path: '', isVersioned: false, endpoint: undefined } as const

/** Finds the route of a path. Matches exactly: case-sensitive, undecoded, no trailing slash. */
interface RouteTable {
  /** Route of paths outside the base path. */
  outside: Route
  findCached(path: string): Route | undefined
  find(path: string): Promise<Route>
}

function createRouteTable({
  basePath,
  versioned,
  unversioned,
  page,
  cors,
  guard,
}: RouteTableOptions): RouteTable {
  const router = Router()
  for (const group of [versioned, unversioned]) {
    for (const [path, endpoint] of Object.entries(group.endpoints)) {
      router.all(path, () => endpoint)
    }
  }
  const found = new Map<string, Route>()
  const corsRules = corsRulesOf({ cors, guard })
  const outside: Route = { ...NO_ROUTE, group: versioned, cors: corsRules.unversioned }

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
      const isPage = endpoint !== undefined && endpoint === page
      const route: Route = {
        path: endpoint && !isPage ? local : '',
        group,
        isVersioned,
        cors: isVersioned ? corsRules.versioned : corsRules.unversioned,
        endpoint,
        post: endpoint && group.posts?.[local],
        cost: isPage ? free : group.costs?.[local],
      }
      // Unknown paths are not cached: their number is unlimited.
      if (endpoint) found.set(path, route)
      return route
    },
  }
}

function corsRulesOf({ cors, guard }: Pick<RouteTableOptions, 'cors' | 'guard'>) {
  const rules = createCors(typeof cors === 'string' ? '*' : cors, guard !== undefined)
  return {
    versioned: cors === 'off' ? NO_CORS : rules,
    unversioned: cors === 'all' ? rules : NO_CORS,
  }
}

function free(): number {
  return 0
}

export interface Target {
  path: string
  /** Without the question mark. */
  query: string
}

const SPACE = 0x20
const HASH = 0x23
const TILDE = 0x7e

/** Returns whether the query from `start` on is what `splitTarget` would return: several times faster than to split it. */
function isPlainQuery(target: string, start: number): boolean {
  for (let index = start; index < target.length; index += 1) {
    const code = target.charCodeAt(index)
    if (code <= SPACE || code > TILDE || code === HASH) return false
  }
  return true
}

/**
 * Accepts origin-form (`/path?query`) and absolute-form, whose authority is ignored. Not by `URL` first: a hostile `Host`
 * can make `request.url` relative or unparsable (Bun, Deno). Normalizes a raw target as `Request` does: resolves dot
 * segments, turns backslashes into slashes, drops the fragment.
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

/** @throws {TypeError} unless it is empty, or an absolute path without a trailing slash that `URL` does not change */
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
