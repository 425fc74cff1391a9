import type { EndpointResponse, Header } from './raw.ts'
import { ALLOW } from './respond.ts'

/** Headers that let any origin read a response. Constant: no origin is reflected, no credentials are allowed. */
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

/** Adds the CORS headers to `response`; a 204, the response to `OPTIONS`, also gets the preflight headers. */
export function withCors(response: EndpointResponse): EndpointResponse {
  const preflight = response.status === 204 ? PREFLIGHT_HEADERS : []
  return { ...response, headers: [...response.headers, ...CORS_HEADERS, ...preflight] }
}
