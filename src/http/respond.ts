import type { RatesError, RatesErrorCode } from '../errors.ts'
import { isMatch } from './etag.ts'
import type { EndpointResponse, Header } from './raw.ts'
import { JSON_HEADERS, byteLength, lengthHeader } from './representation.ts'
import type { Freshness, Representation } from './representation.ts'

/** HTTP status by error code. */
export const STATUS: Readonly<Record<RatesErrorCode, number>> = {
  missing_parameter: 400,
  invalid_parameter: 400,
  invalid_currency: 400,
  unsupported_currency: 400,
  invalid_amount: 400,
  invalid_period: 400,
  no_data: 404,
  not_found: 404,
  method_not_allowed: 405,
  precondition_failed: 412,
  provider_unavailable: 502,
  overloaded: 503,
  internal_error: 500,
}

/** Methods allowed on every endpoint. */
export const ALLOW = 'GET, HEAD, OPTIONS'

const UNCACHED_HEADERS: readonly Header[] = [...JSON_HEADERS, ['cache-control', 'no-store']]

/** The result of a successful endpoint; `freshness` is absent for constant content. */
export interface DataResult {
  representation: Representation
  freshness?: Freshness
}

const CONSTANT: Freshness = { hit: true, ttl: Infinity }

/** Creates a 200 response; `more` headers must be the same on every call for one representation. */
export function success(
  { representation, freshness = CONSTANT }: DataResult,
  more: readonly Header[],
): EndpointResponse {
  const { body, bodyHeaders, etag, length, sent } = representation
  const { hit, ttl } = freshness
  if (sent?.hit === hit && sent.ttl === ttl) return { status: 200, headers: sent.headers, body }
  const cache: Header[] = freshness === CONSTANT ? [] : [['cache-status', cacheStatus(freshness)]]
  const headers = [...bodyHeaders, etag, length, ...cache, ...more]
  representation.sent = { hit, ttl, headers }
  return { status: 200, headers, body }
}

/** Creates a 200 response with `record` as JSON and `no-store`. */
export function uncached(record: object): EndpointResponse {
  const body = JSON.stringify(record)
  return { status: 200, headers: [...UNCACHED_HEADERS, lengthHeader(byteLength(body))], body }
}

/** Returns whether `response` meets `ifMatch` (entity tags, or `*`; RFC 9110 §13.1.1); true without a list. */
export function meetsIfMatch(
  { headers }: EndpointResponse,
  ifMatch: string | null | undefined,
): boolean {
  return !ifMatch || isMatch(ifMatch, tagOf(headers), 'strong')
}

/** Returns `response`, or a 304 without its body if `ifNoneMatch` lists its entity tag. */
export function revalidated<Kind extends EndpointResponse>(
  response: Kind,
  ifNoneMatch: string | null | undefined,
): Kind {
  if (!ifNoneMatch) return response
  const tag = tagOf(response.headers)
  if (!tag || !isMatch(ifNoneMatch, tag, 'weak')) return response
  // `Content-Length` would describe a body that is not sent (RFC 9110 §15.4.5).
  const headers = response.headers.filter(([name]) => name !== 'content-length')
  return { ...response, status: 304, headers, body: null }
}

function tagOf(headers: readonly Header[]): string {
  return headers.find(([name]) => name === 'etag')?.[1] ?? ''
}

/** Creates the 204 response to `OPTIONS`. */
export function options(): EndpointResponse {
  const headers: Header[] = [
    ['allow', ALLOW],
    ['x-content-type-options', 'nosniff'],
  ]
  return { status: 204, headers, body: null }
}

/** Creates the response to `error`, with `record` as JSON and `no-store`. */
export function failure(error: RatesError, record: object): EndpointResponse {
  const body = JSON.stringify(record)
  const headers: Header[] = [...UNCACHED_HEADERS, lengthHeader(byteLength(body))]
  if (error.code === 'method_not_allowed') headers.push(['allow', ALLOW])
  if (error.retryAfter !== undefined) headers.push(['retry-after', String(error.retryAfter)])
  return { status: STATUS[error.code], headers, body }
}

// RFC 9211
function cacheStatus({ hit, ttl }: Freshness): string {
  if (!hit) return 'rates; fwd=miss'
  return ttl < 0 ? `rates; hit; ttl=${ttl}; detail=stale` : `rates; hit; ttl=${ttl}`
}
