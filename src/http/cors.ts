import type { Header, EndpointResponse } from './raw.ts'
import { ALLOW } from './respond.ts'

/** Lets any origin read an answer. Constant, so that one serves everybody: no origin is reflected, no credentials are allowed. */
export const CORS_HEADERS: readonly Header[] = [
  ['access-control-allow-origin', '*'],
  ['access-control-expose-headers', 'ETag, Retry-After, Cache-Status, Link'],
  ['cross-origin-resource-policy', 'cross-origin'],
]

const PREFLIGHT_HEADERS: readonly Header[] = [
  ['access-control-allow-methods', ALLOW],
  ['access-control-allow-headers', '*'],
  ['access-control-max-age', '86400'],
]

/** Adds the headers that let any origin read `reply`; a 204, which only `OPTIONS` gets, also says what may be asked. */
export function withCors(reply: EndpointResponse): EndpointResponse {
  const preflight = reply.status === 204 ? PREFLIGHT_HEADERS : []
  return { ...reply, headers: [...reply.headers, ...CORS_HEADERS, ...preflight] }
}
