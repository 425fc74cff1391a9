import type { EndpointResponse, Header } from './messages.ts'
import { bodyHeaders, entityTag, lengthHeader, represent, uncached } from './response.ts'
import type { EndpointResult } from './response.ts'
import type { RouteCall, RouteContext, RouteFunction, RouteServices } from './routes.ts'

/** Calls the function of a route with a `Request`, and turns what it returns into a response. */
export async function runRoute(
  route: RouteFunction,
  call: RouteCall,
  services: RouteServices,
): Promise<EndpointResult> {
  const { request } = call
  if (request.method !== 'POST') return runWith(null, route, call, services)
  const { receive } = await services.bodies()
  return receive(request, (body) => runWith(body, route, call, services))
}

async function runWith(
  body: ReturnType<typeof Uint8Array.of> | null,
  route: RouteFunction,
  { path, match, query, request }: RouteCall,
  { rates, limiter, now, hasCors }: RouteServices,
): Promise<EndpointResult> {
  const { method, signal = null } = request
  const url = `http://localhost${path}${query === '' ? '' : `?${query}`}`
  const headers = new Headers(Array.from(request.headers?.() ?? [], ([...header]) => header))
  const context: RouteContext = { now, run: async (work) => limiter.run(work, request) }
  const sent = Object.assign(new Request(url, { method, headers, body, signal }), match)
  const result: unknown = await route(sent, rates, context)
  if (result instanceof Response) return toEndpointResponse(result, { method, hasCors })
  if (typeof result !== 'object' || result === null) {
    throw new TypeError('a route must return a Response or an object')
  }
  if (method === 'POST') return uncached(result)
  return { representation: represent(JSON.stringify(result), bodyHeaders({ lifetime: 'minute' })) }
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
