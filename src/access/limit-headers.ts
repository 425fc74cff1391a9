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
  const headers = response.headers.slice()
  if (hasKey) makePrivate(headers)
  if (states.length > 0) headers.push(policy, rateLimit(limits, states))
  return { status: response.status, headers, body: response.body }
}

function makePrivate(headers: Header[]): void {
  let [caching, vary] = [-1, -1]
  for (let index = 0; index < headers.length; index += 1) {
    const name = headers[index]?.[0]
    if (name === 'cache-control') caching = index
    else if (name === 'vary') vary = index
  }
  const value = headers[vary]?.[1]
  const keyed: Header = value === undefined ? VARY : ['vary', `${value}, ${KEY_HEADERS}`]
  headers[caching < 0 ? headers.length : caching] = toPrivate(headers[caching]?.[1] ?? '')
  headers[vary < 0 ? headers.length : vary] = keyed
}

const KEY_HEADERS = 'Authorization, X-API-Key'
const VARY: Header = ['vary', KEY_HEADERS]

/** Shared caches may keep a public response to a request with `Authorization` (RFC 9111 §3.5). */
function toPrivate(caching: string): Header {
  if (caching.startsWith('public')) return ['cache-control', `private${caching.slice(6)}`]
  if (caching === '') return ['cache-control', 'private']
  const isPrivate = /no-store|private/.test(caching)
  return ['cache-control', isPrivate ? caching : `private, ${caching}`]
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
  for (let index = 0; index < limits.length; index += 1) {
    const { remaining = 0, reset = 0, wait = 0 } = states[index] ?? {}
    const name = limits[index]?.name
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
