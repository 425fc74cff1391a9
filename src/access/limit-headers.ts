import { privateHeaders, withVary } from '../core.ts'
import type { EndpointResponse, Header } from '../index.ts'
import type { Limit, LimitState } from './counters.ts'

/** Returns whether shared caches may keep a response: it then has no header fields of limits. */
export function isPublic({ headers }: EndpointResponse): boolean {
  for (const header of headers) {
    if (header[0] === 'cache-control') return header[1].startsWith('public')
  }
  return false
}

/** Adds the header fields of limits; a response that needed a key becomes private. */
export function withFields(
  response: EndpointResponse,
  fields: LimitFields,
  states: readonly LimitState[],
  hasKey: boolean,
): EndpointResponse {
  const { status, body } = response
  if (!hasKey) {
    const more = states.length === 0 ? [] : [fields.policy, rateLimit(fields, states)]
    return { status, headers: [...response.headers, ...more], body }
  }
  const keyed = privateHeaders(response.headers, toPrivate)
  if (states.length === 0) return { status, headers: keyed.slice(0, -2), body }
  // A list that does not grow takes less time and memory.
  const headers = keyed.slice()
  headers[headers.length - 2] = fields.policy
  headers[headers.length - 1] = rateLimit(fields, states)
  return { status, headers, body }
}

const PLACE: Header = ['', '']

/** Makes headers private, with two places for the header fields of limits at the end. */
function toPrivate(headers: readonly Header[]): Header[] {
  const keyed = withVary(headers, 'Authorization, X-API-Key')
  const index = keyed.findIndex(([name]) => name === 'cache-control')
  const caching: Header = ['cache-control', privateCaching(keyed[index]?.[1] ?? '')]
  if (index >= 0) keyed[index] = caching
  else keyed.push(caching)
  return [...keyed, PLACE, PLACE]
}

/** Shared caches may keep a public response to a request with `Authorization` (RFC 9111 §3.5). */
function privateCaching(caching: string): string {
  if (caching === '') return 'private'
  if (caching.startsWith('public')) return caching.replace('public', 'private')
  return /no-store|private/.test(caching) ? caching : `private, ${caching}`
}

/** The constant parts of the header fields of a plan (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4). */
export interface LimitFields {
  policy: Header
  /** The items of `RateLimit` up to what remains. */
  starts: readonly string[]
}

export function fieldsOf(limits: readonly Limit[]): LimitFields {
  const items = limits.map(({ name, quota, window }) => {
    const length = window === 'month' ? '' : `;w=${Math.max(1, Math.round(window / 1_000))}`
    return `"${name}";q=${quota}${length}`
  })
  const starts = limits.map(({ name }, index) => `${index > 0 ? ', ' : ''}"${name}";r=`)
  return { policy: ['ratelimit-policy', items.join(', ')], starts }
}

function rateLimit({ starts }: LimitFields, states: readonly LimitState[]): Header {
  let text = ''
  for (let index = 0; index < states.length; index += 1) {
    const { remaining = 0, reset = 0, wait = 0 } = states[index] ?? {}
    // Rounded to 1 µs: fractions of a ms are not exact.
    const time = wait > 0 ? wait : Math.round(reset * 1_000) / 1_000
    text += `${starts[index]}${toInteger(remaining)};t=${toInteger(Math.ceil(time / 1_000))}`
  }
  return ['ratelimit', text]
}

/** Returns an integer that structured fields accept (RFC 9651 §3.3.1). */
export function toInteger(value: number): number {
  return value > 0 ? Math.min(Math.floor(value), 999_999_999_999_999) : 0
}
