import type { Runtime } from '../async.ts'
import { RatesError, toRatesError } from '../errors.ts'
import type { CorsRules } from './cors.ts'
import { giveBack } from './guard.ts'
import type { Admission, Gate } from './guard.ts'
import { overloaded } from './limiter.ts'
import type { Limiter } from './limiter.ts'
import type { EndpointResponse, RawRequest, RawResponse } from './messages.ts'
import { failure, meetsIfMatch, options, revalidated, success } from './response.ts'
import type { EndpointResult } from './response.ts'
import { createRouteTable } from './route-table.ts'
import type { Resource, RouteTable, RouteTableOptions } from './route-table.ts'
import { splitTarget } from './target.ts'
import type { Target } from './target.ts'

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
  /** Path of the endpoint below the base path, or the pattern of a route; empty for the page at the base path. */
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
  resource: Resource
  query: string
  admission: Admission | undefined
  /** What the request takes from the limits of the client: the most that it may take until the response is known. */
  cost: number
}

function createExchange(
  request: RawRequest,
  resource: Resource,
  startedAt: number | undefined,
): Exchange {
  return { request, startedAt, method: '', resource, query: '', admission: undefined, cost: 1 }
}

export function createRouter(routerOptions: RouterOptions): RequestRouter {
  const { onInternalError, observer, gate } = routerOptions
  const table = createRouteTable(routerOptions)
  const waits = createWaitLimit(routerOptions)
  const respond = createResponder(routerOptions, table, waits)

  function answer(request: RawRequest): RawResponse | Promise<RawResponse> {
    const startedAt = observer.isActive ? observer.start() : undefined
    const exchange = createExchange(request, table.outside, startedAt)
    let response: EndpointResponse | Promise<EndpointResponse>
    try {
      response = respond(exchange)
    } catch (error) {
      response = failed(exchange, error)
    }
    return response instanceof Promise
      ? finishLater(exchange, response)
      : finish(exchange, response)
  }

  async function finishLater(
    exchange: Exchange,
    response: Promise<EndpointResponse>,
  ): Promise<RawResponse> {
    return finish(exchange, await response.catch((error: unknown) => failed(exchange, error)))
  }

  function failed(exchange: Exchange, thrown: unknown): EndpointResponse {
    const { request, resource } = exchange
    const error = toRatesError(thrown)
    // An operation reports its own internal error.
    if (error !== thrown) onInternalError(thrown, request.requestId)
    // Only the query or the head of the request was read.
    if ([400, 405, 408, 413, 415].includes(error.status)) exchange.cost = 1
    const { body, status = error.status } = resource.toFailure(error)
    return { ...withCors(failure(error, body, resource.allow), resource.cors), status }
  }

  function finish(exchange: Exchange, plain: EndpointResponse): RawResponse {
    const { request, resource, method, admission, startedAt, cost } = exchange
    let response = completed(plain, resource, request)
    if (admission && gate) response = gate.finish(admission, response, { request, cost })
    const { status, headers } = response
    const body = method === 'HEAD' ? null : response.body
    const { matched, label: route } = resource
    if (startedAt !== undefined && matched) {
      observer.end({ route, request, status: plain.status, body, startedAt })
    }
    return { status, headers, body, matched }
  }

  return { answer, waiting: waits.count }
}

function createResponder(
  { limiter, gate, basePath }: Pick<RouterOptions, 'limiter' | 'gate' | 'basePath'>,
  table: RouteTable,
  waits: ReturnType<typeof createWaitLimit>,
): (exchange: Exchange) => EndpointResponse | Promise<EndpointResponse> {
  async function found(exchange: Exchange, target: Target): Promise<EndpointResponse> {
    return admitted(exchange, await table.find(target))
  }

  function admitted(
    exchange: Exchange,
    resource: Resource,
  ): EndpointResponse | Promise<EndpointResponse> {
    exchange.resource = resource
    const decision = gate && admit(gate, exchange)
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
  ): EndpointResponse | Promise<EndpointResponse> {
    exchange.admission = admission
    if (admission?.refusal) throw admission.refusal
    const { query, resource } = exchange
    const isLimited = query.length > MAX_CHEAP_QUERY_LENGTH && resource.matched
    const result = isLimited ? runLimited(exchange) : runEndpoint(exchange, basePath)
    if (!(result instanceof Promise)) return render(result, exchange)
    return waits.waitFor(result).then((ended) => render(ended, exchange))
  }

  return (exchange) => {
    const { target, method } = exchange.request
    exchange.method = method
    const start = target.indexOf('?')
    const known = table.cached.get(start < 0 ? target : target.slice(0, start))
    // The path of a known endpoint needs no normalization.
    if (known && (start < 0 || isPlainQuery(target, start + 1))) {
      if (start >= 0) exchange.query = target.slice(start + 1)
      return admitted(exchange, known)
    }
    const split = splitTarget(target)
    exchange.query = split.query
    const resource = table.cached.get(split.path)
    return resource ? admitted(exchange, resource) : found(exchange, split)
  }
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
        void admission.then(giveBack)
        throw error
      }
    },
  }
}

/** Passes a request that costs something to the guard; a preflight has no key and costs nothing. */
function admit(gate: Gate, exchange: Exchange): Admission | Promise<Admission> | undefined {
  const { request, method, resource, query } = exchange
  if (!resource.matched || method === 'OPTIONS') return undefined
  const cost = resource.cost?.(query, method) ?? 1
  exchange.cost = cost
  return cost > 0 ? gate.admit({ request, query, cost }) : undefined
}

function runEndpoint(
  { request, method, resource, query }: Exchange,
  basePath: string,
): EndpointResult | Promise<EndpointResult> {
  const { matched, endpoint, post, isVersioned, allow } = resource
  // A preflight for an unknown path succeeds, so that the browser sees the 404 of the actual request.
  if (method === 'OPTIONS' && (matched || isVersioned)) return options(allow)
  if (!matched) throw new RatesError('not_found', 'Not found', { hint: `see ${basePath}/v1` })
  if (method === 'POST' && post) return post(query, request)
  if (endpoint && (method === 'GET' || method === 'HEAD')) return endpoint(query, request)
  throw new RatesError('method_not_allowed', 'Method not allowed')
}

function render(result: EndpointResult, exchange: Exchange): EndpointResponse {
  const { resource, request } = exchange
  if (result.cost !== undefined) exchange.cost = Math.min(exchange.cost, result.cost)
  const response =
    'representation' in result
      ? success(result, resource.cors.constant)
      : withCors(result, resource.cors)
  if (response.status !== 200) return response
  if (!meetsIfMatch(response, request.header('if-match'))) {
    const message = 'Precondition failed: If-Match does not name the current ETag'
    throw new RatesError('precondition_failed', message)
  }
  return revalidated(response, request.header('if-none-match'))
}

function withCors({ status, headers, body }: EndpointResponse, cors: CorsRules): EndpointResponse {
  return { status, headers: [...headers, ...cors.constant], body }
}

/** Adds CORS headers that depend on the request; none if its headers cannot be read. */
function completed(
  response: EndpointResponse,
  { cors }: Resource,
  request: RawRequest,
): EndpointResponse {
  if (!cors.dependsOnRequest && response.status !== 204) return response
  try {
    return cors.complete(response, request)
  } catch {
    return response
  }
}
