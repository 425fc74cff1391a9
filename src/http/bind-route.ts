import { yieldToEventLoop } from '../async.ts'
import type { RatesError } from '../errors.ts'
import { LARGE_BODY_BYTES } from './limiter.ts'
import type { EndpointResponse, Header, RawRequest } from './messages.ts'
import {
  ALLOW,
  bodyHeaders,
  entityTag,
  isStreamed,
  lengthHeader,
  represent,
  uncached,
} from './response.ts'
import type { EndpointResult, PostEndpoint } from './response.ts'
import { MAX_COST, isCost } from './routes.ts'
import type {
  BoundRoute,
  CostFunction,
  Route,
  RouteContext,
  RouteFunction,
  RouteMatch,
  RouteServices,
} from './routes.ts'
import type { Target } from './target.ts'

/** Returns the functions of a route for a request to `target`. */
export function bindRoute(
  route: Route,
  { path, query }: Target,
  params: RouteMatch['params'],
  services: RouteServices,
): BoundRoute {
  const { get, post, cost = 1, error } = route
  const match = { params, query: decodeQuery(query) }
  const call = (run: RouteFunction | undefined): PostEndpoint | undefined =>
    run && ((_query, request) => respond(run, { path, match, query, request }, services))
  return {
    // A group of a regular expression has only its name.
    label: route.path.replace(/\(\?<(\w+)>[^()]*\)/g, ':$1'),
    allow: [...(get ? [ALLOW] : ['OPTIONS']), ...(post ? ['POST'] : [])].join(', '),
    toFailure: (thrown) => failureOf(error, thrown) ?? { body: services.errorBody(thrown) },
    endpoint: call(get),
    post: call(post),
    cost: (_query, method) =>
      typeof cost === 'number' ? cost : costBy(cost, { method, ...match }, services.now()),
  }
}

/** The query of itty-router takes quadratic time for repeated names, and loses an empty value before another one. */
function decodeQuery(query: string): RouteMatch['query'] {
  const decoded: Record<string, string | string[]> = Object.create(null)
  // Without the `&`, a leading question mark would be dropped.
  for (const [name, value] of new URLSearchParams(`&${query}`)) {
    const before = decoded[name]
    if (before === undefined) decoded[name] = value
    else if (typeof before === 'string') decoded[name] = [before, value]
    else before.push(value)
  }
  return decoded
}

/** The maximum without a usable result: a request that makes `cost` throw must not be free. */
function costBy(cost: CostFunction, ...given: Parameters<CostFunction>): number {
  try {
    const value = cost(...given)
    // Not of null or -0.5: 0 is a route without keys.
    const whole = value > 0 ? Math.ceil(value) : value
    return isCost(whole) ? whole : MAX_COST
  } catch {
    return MAX_COST
  }
}

/** Statuses of responses without a body. */
const EMPTY_STATUSES: readonly number[] = [204, 205, 304]

/** Returns undefined without a usable result. */
function failureOf(
  describe: Route['error'],
  error: RatesError,
): ReturnType<BoundRoute['toFailure']> | undefined {
  try {
    const { body, status = error.status } = describe?.(error) ?? {}
    const isStatus = Number.isInteger(status) && status >= 200 && status <= 599
    const isUsable = isStatus && !EMPTY_STATUSES.includes(status)
    // Of an object that is not JSON, this throws or returns undefined.
    return isUsable && body && JSON.stringify(body) ? { body, status } : undefined
  } catch {
    return undefined
  }
}

interface RouteCall {
  path: string
  match: RouteMatch
  query: string
  request: RawRequest
}

/** Calls the function of a route with a `Request`, and turns what it returns into a response. */
async function respond(
  run: RouteFunction,
  call: RouteCall,
  services: RouteServices,
): Promise<EndpointResult> {
  const { request } = call
  if (request.method !== 'POST') return runWith(null, run, call, services)
  const { receive } = await services.bodies()
  return receive(request, (body) => runWith(body, run, call, services))
}

async function runWith(
  body: ReturnType<typeof Uint8Array.of> | null,
  run: RouteFunction,
  { path, match, query, request }: RouteCall,
  { rates, limiter, now, hasCors }: RouteServices,
): Promise<EndpointResult> {
  const { method, signal = null } = request
  const url = `http://localhost${path}${query === '' ? '' : `?${query}`}`
  const headers = readHeaders(request)
  const context: RouteContext = { now, run: async (work) => limiter.run(work, request) }
  const sent = Object.assign(new Request(url, { method, headers, body, signal }), match)
  const result: unknown = await run(sent, rates, context)
  if (typeof result !== 'object' || result === null) {
    throw new TypeError('a route must return a Response or an object')
  }
  const made = await toResult(result, { method, hasCors })
  const { body: sentBody } = 'representation' in made ? made.representation : made
  if (!isStreamed(sentBody) && (sentBody?.length ?? 0) > LARGE_BODY_BYTES)
    limiter.requireRoom(request)
  return made
}

async function toResult(
  result: object,
  about: { method: string; hasCors: boolean },
): Promise<EndpointResult> {
  if (result instanceof Response) return toEndpointResponse(result, about)
  if (about.method === 'POST') return uncached(result)
  return { representation: represent(JSON.stringify(result), bodyHeaders({ lifetime: 'minute' })) }
}

function readHeaders(request: RawRequest): Headers {
  const headers = new Headers()
  for (const [name, value] of request.headers?.() ?? []) {
    try {
      headers.append(name, value)
    } catch {
      // Hosts that decode headers as UTF-8 have characters that no `Headers` takes.
    }
  }
  return headers
}

/** Headers that depend on the body and on the connection, which are the handler's. */
const OWN_HEADERS = ['content-length', 'transfer-encoding', 'connection']

/** Headers that browsers refuse with two values. */
const CORS_HEADERS = /^(?:access-control-|cross-origin-resource-policy$)/

async function toEndpointResponse(
  response: Response,
  { method, hasCors }: { method: string; hasCors: boolean },
): Promise<EndpointResponse> {
  const { status } = response
  if (status < 200) throw new TypeError('a route must return a usable Response')
  const bytes = response.body === null ? null : new Uint8Array(await response.arrayBuffer())
  const headers: Header[] = [...response.headers]
    .filter(([name]) => !OWN_HEADERS.includes(name) && !(hasCors && CORS_HEADERS.test(name)))
    .map(([name, value]) => [name, value])
  const has = (name: string): boolean => headers.some(([each]) => each === name)
  if (bytes) {
    // Its copy and its digest each take as long as a slice.
    if (bytes.length > LARGE_BODY_BYTES) await yieldToEventLoop()
    const isCacheable = method !== 'POST' && status === 200
    if (
      isCacheable &&
      !has('etag') &&
      !/no-store/.test(response.headers.get('cache-control') ?? '')
    ) {
      headers.push(['etag', entityTag(bytes)])
    }
    headers.push(lengthHeader(bytes.length))
  }
  return { status, headers, body: bytes }
}
