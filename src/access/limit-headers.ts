import type { EndpointResponse, Header } from '../index.ts'
import type { Limit, LimitState } from './counters.ts'

/** Returns whether shared caches may keep a response: it then has no header fields of limits. */
export function isPublic({ headers }: EndpointResponse): boolean {
  for (const header of headers) {
    if (header[0] === 'cache-control') return header[1].startsWith('public')
  }
  return false
}

/** Adds the header fields of limits; a response that needed a key becomes private. In one pass: it is frequent. */
export function withFields(
  response: EndpointResponse,
  { limits, policy }: { limits: readonly Limit[]; policy: Header },
  states: readonly LimitState[],
  hasKey: boolean,
): EndpointResponse {
  const headers: Header[] = []
  let isCachingKnown = !hasKey
  let isVaryKnown = !hasKey
  for (const header of response.headers) {
    const [name, value] = header
    if (hasKey && name === 'cache-control') {
      isCachingKnown = true
      headers.push(toPrivate(value))
    } else if (hasKey && name === 'vary') {
      isVaryKnown = true
      headers.push([name, `${value}, ${KEY_HEADERS}`])
    } else headers.push(header)
  }
  if (!isCachingKnown) headers.push(toPrivate(''))
  if (!isVaryKnown) headers.push(VARY)
  if (states.length > 0) headers.push(policy, rateLimit(limits, states))
  return { status: response.status, headers, body: response.body }
}

const KEY_HEADERS = 'Authorization, X-API-Key'
const VARY: Header = ['vary', KEY_HEADERS]

/** Shared caches may keep a public response to a request with `Authorization` (RFC 9111 §3.5). */
function toPrivate(caching: string): Header {
  const others = caching.startsWith('public') ? caching.slice('public'.length) : `, ${caching}`
  const isPrivate = /no-store|private/.test(caching)
  return ['cache-control', isPrivate ? caching : `private${caching === '' ? '' : others}`]
}

// draft-ietf-httpapi-ratelimit-headers-10, section 3
export function policyOf(limits: readonly Limit[]): Header {
  const items = limits.map(({ name, quota, window }) => {
    const length = window === 'month' ? '' : `;w=${Math.max(1, Math.round(window / 1_000))}`
    return `"${name}";q=${quota}${length}`
  })
  return ['ratelimit-policy', items.join(', ')]
}

// Section 4
function rateLimit(limits: readonly Limit[], states: readonly LimitState[]): Header {
  let text = ''
  for (const [index, { name }] of limits.entries()) {
    const { remaining = 0, reset = 0, wait = 0 } = states[index] ?? {}
    // Rounded to 1 µs: fractions of a ms are not exact.
    const time = wait > 0 ? wait : Math.round(reset * 1_000) / 1_000
    if (index > 0) text += ', '
    text += `"${name}";r=${toInteger(remaining)};t=${toInteger(Math.ceil(time / 1_000))}`
  }
  return ['ratelimit', text]
}

/** Returns an integer that structured fields accept (RFC 9651 §3.3.1). */
export function toInteger(value: number): number {
  return value > 0 ? Math.min(Math.floor(value), 999_999_999_999_999) : 0
}
