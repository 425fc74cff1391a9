import type { RatesError, RatesErrorCode } from '../errors.ts'
import type { Reply } from './answer.ts'
import { entityTag, isMatch } from './etag.ts'

const STATUS: Record<RatesErrorCode, number> = {
  missing_parameter: 400,
  invalid_parameter: 400,
  invalid_currency: 400,
  unsupported_currency: 400,
  invalid_amount: 400,
  invalid_period: 400,
  no_data: 404,
  not_found: 404,
  method_not_allowed: 405,
  provider_unavailable: 502,
  internal_error: 500,
}

/** What may be asked for anywhere. */
export const ALLOW = 'GET, HEAD, OPTIONS'

/** Values of `Cache-Control`. Never `s-maxage`: it forbids a shared cache to answer stale (RFC 9111 §5.2.2.10). */
const LIFETIMES = {
  minute: 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  hour: 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800',
}

const JSON_HEADERS: Reply['headers'] = [
  ['content-type', 'application/json; charset=utf-8'],
  ['x-content-type-options', 'nosniff'],
]

/** What is to be known of a record beside itself. */
export interface Delivery {
  /** How long others may cache it. */
  lifetime: keyof typeof LIFETIMES
  /** Where the data came from. */
  reading: { hit: boolean; ttl: number }
  /** When the data were published, in ms since the Unix epoch. */
  updatedAt?: number
}

/** 200 with `record` as JSON, and all that a cache needs to know of it. */
export function success(record: object, { lifetime, reading, updatedAt }: Delivery): Reply {
  const body = JSON.stringify(record)
  const headers: Reply['headers'] = [
    ...JSON_HEADERS,
    ['cache-control', LIFETIMES[lifetime]],
    ['etag', entityTag(body)],
    ['cache-status', cacheStatus(reading)],
  ]
  if (updatedAt !== undefined) headers.push(['last-modified', new Date(updatedAt).toUTCString()])
  return { status: 200, headers, body }
}

/** 200 with `record` as JSON, not to be cached by anyone. */
export function uncached(record: object): Reply {
  const headers: Reply['headers'] = [...JSON_HEADERS, ['cache-control', 'no-store']]
  return { status: 200, headers, body: JSON.stringify(record) }
}

/** `reply`, or a 304 without its body where `ifNoneMatch` shows that whoever asked has it already. */
export function revalidated<Kind extends Reply>(
  reply: Kind,
  ifNoneMatch: string | null | undefined,
): Kind {
  const [, tag] = reply.headers.find(([name]) => name === 'etag') ?? []
  if (!ifNoneMatch || !tag || !isMatch(ifNoneMatch, tag)) return reply
  return { ...reply, status: 304, body: null }
}

/** `reply` as it is sent to `HEAD`: its body is left out, but its length told. Some servers would say that it is 0. */
export function withoutBody<Kind extends Reply>(reply: Kind): Kind {
  const { headers, body } = reply
  if (body === null) return reply
  const { length } = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return { ...reply, headers: [...headers, ['content-length', String(length)]], body: null }
}

/** 204 to `OPTIONS`. */
export function options(): Reply {
  const headers: Reply['headers'] = [
    ['allow', ALLOW],
    ['x-content-type-options', 'nosniff'],
  ]
  return { status: 204, headers, body: null }
}

/** The status of `error` with `body` as JSON, not to be cached by anyone. */
export function failure(error: RatesError, body: object): Reply {
  const headers: Reply['headers'] = [...JSON_HEADERS, ['cache-control', 'no-store']]
  if (error.code === 'method_not_allowed') headers.push(['allow', ALLOW])
  if (error.retryAfter !== undefined) headers.push(['retry-after', String(error.retryAfter)])
  return { status: STATUS[error.code], headers, body: JSON.stringify(body) }
}

/** `Cache-Status` of RFC 9211, as far as it says where the data came from. */
function cacheStatus({ hit, ttl }: Delivery['reading']): string {
  if (!hit) return 'rates; fwd=miss'
  return ttl < 0 ? `rates; hit; ttl=${ttl}; detail=stale` : `rates; hit; ttl=${ttl}`
}
