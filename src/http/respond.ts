import type { RatesError, RatesErrorCode } from '../errors.ts'
import type { Header, EndpointResponse } from './raw.ts'
import { isMatch } from './etag.ts'
import { JSON_HEADERS, byteLength, lengthHeader } from './representation.ts'
import type { Freshness, Representation } from './representation.ts'

/** The status of an error. */
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

/** What may be asked for anywhere. */
export const ALLOW = 'GET, HEAD, OPTIONS'

const UNCACHED_HEADERS: readonly Header[] = [...JSON_HEADERS, ['cache-control', 'no-store']]

/** What an endpoint has found: what to send, and where the data in it came from; without data, what is always the same. */
export interface DataResult {
  representation: Representation
  freshness?: Freshness
}

/** Stands for what is always the same. */
const CONSTANT: Freshness = { hit: true, ttl: Infinity }

/** 200 with a representation, and where the data came from; `more` headers are always the same for one representation. */
export function success(
  { representation, freshness = CONSTANT }: DataResult,
  more: readonly Header[],
): EndpointResponse {
  const { body, bodyHeaders: delivery, etag, length, sent } = representation
  const { hit, ttl } = freshness
  if (sent?.hit === hit && sent.ttl === ttl) return { status: 200, headers: sent.headers, body }
  const cache: Header[] = freshness === CONSTANT ? [] : [['cache-status', cacheStatus(freshness)]]
  const headers = [...delivery, etag, length, ...cache, ...more]
  representation.sent = { hit, ttl, headers }
  return { status: 200, headers, body }
}

/** 200 with `record` as JSON, not to be cached by anyone. */
export function uncached(record: object): EndpointResponse {
  const body = JSON.stringify(record)
  return { status: 200, headers: [...UNCACHED_HEADERS, lengthHeader(byteLength(body))], body }
}

/** Whether `reply` is what `ifMatch` (a list of entity tags, or `*`) asks for, by RFC 9110 §13.1.1; true without a list. */
export function meetsIfMatch(
  { headers }: EndpointResponse,
  ifMatch: string | null | undefined,
): boolean {
  return !ifMatch || isMatch(ifMatch, tagOf(headers), 'strong')
}

/** `reply`, or a 304 without its body where `ifNoneMatch` shows that whoever asked has it already. */
export function revalidated<Kind extends EndpointResponse>(
  reply: Kind,
  ifNoneMatch: string | null | undefined,
): Kind {
  if (!ifNoneMatch) return reply
  const tag = tagOf(reply.headers)
  if (!tag || !isMatch(ifNoneMatch, tag, 'weak')) return reply
  // A length would be of a body that is not sent (RFC 9110 §15.4.5).
  const headers = reply.headers.filter(([name]) => name !== 'content-length')
  return { ...reply, status: 304, headers, body: null }
}

/** The entity tag among `headers`; empty where there is none. */
function tagOf(headers: readonly Header[]): string {
  return headers.find(([name]) => name === 'etag')?.[1] ?? ''
}

/** 204 to `OPTIONS`. */
export function options(): EndpointResponse {
  const headers: Header[] = [
    ['allow', ALLOW],
    ['x-content-type-options', 'nosniff'],
  ]
  return { status: 204, headers, body: null }
}

/** The status of `error` with `record` as JSON, not to be cached by anyone. */
export function failure(error: RatesError, record: object): EndpointResponse {
  const body = JSON.stringify(record)
  const headers: Header[] = [...UNCACHED_HEADERS, lengthHeader(byteLength(body))]
  if (error.code === 'method_not_allowed') headers.push(['allow', ALLOW])
  if (error.retryAfter !== undefined) headers.push(['retry-after', String(error.retryAfter)])
  return { status: STATUS[error.code], headers, body }
}

/** `Cache-Status` of RFC 9211, as far as it says where the data came from. */
function cacheStatus({ hit, ttl }: Freshness): string {
  if (!hit) return 'rates; fwd=miss'
  return ttl < 0 ? `rates; hit; ttl=${ttl}; detail=stale` : `rates; hit; ttl=${ttl}`
}
