import type { EndpointResponse, Header, RawRequest } from './messages.ts'

/** Which responses scripts of other origins may read: the versioned ones, all, none, or the versioned ones for listed origins. */
export type Cors = 'v1' | 'all' | 'off' | readonly string[]

export interface CorsRules {
  /** Headers of every response, to append once to all headers of a representation. */
  readonly constant: readonly Header[]
  /** Whether `complete` changes every response; otherwise only a 204, the response to a preflight. */
  readonly dependsOnRequest: boolean
  /** Adds the headers that `constant` does not contain: those of a preflight, and those that depend on the request. */
  complete(response: EndpointResponse, request: Pick<RawRequest, 'header'>): EndpointResponse
}

const EXPOSED = 'ETag, Retry-After, Cache-Status, Link'

const EXPOSED_WITH_ACCESS = `${EXPOSED}, RateLimit, RateLimit-Policy, WWW-Authenticate`

export const NO_CORS: CorsRules = {
  constant: [],
  dependsOnRequest: false,
  complete: (response) => response,
}

/** With keys, preflights name their headers, because a wildcard does not include `Authorization` (Fetch standard). */
export function createCors(origins: '*' | readonly string[], hasAccess = false): CorsRules {
  const exposed: Header = [
    'access-control-expose-headers',
    hasAccess ? EXPOSED_WITH_ACCESS : EXPOSED,
  ]
  const preflight: Header[] = [
    ['access-control-allow-headers', hasAccess ? 'Authorization, X-API-Key, *' : '*'],
    ['access-control-max-age', '86400'],
  ]
  const shared: Header = ['cross-origin-resource-policy', 'cross-origin']

  function withPreflight(response: EndpointResponse): EndpointResponse {
    if (response.status !== 204) return response
    const { headers } = response
    const [, methods] = headers.find(([name]) => name === 'allow') ?? []
    // A route may also have a 204.
    if (methods === undefined) return response
    const allowed: Header = ['access-control-allow-methods', methods]
    return { ...response, headers: [...headers, allowed, ...preflight] }
  }

  // Constant: no origin is reflected, no credentials are allowed.
  if (origins === '*') {
    const constant: Header[] = [['access-control-allow-origin', '*'], exposed, shared]
    return { constant, dependsOnRequest: false, complete: withPreflight }
  }
  const listed = new Set(origins)
  return {
    constant: [['vary', 'Origin']],
    dependsOnRequest: true,
    complete(response, request) {
      const origin = request.header('origin')
      if (!origin || !listed.has(origin)) return response
      const allowed: Header[] = [['access-control-allow-origin', origin], exposed, shared]
      return withPreflight({ ...response, headers: [...response.headers, ...allowed] })
    },
  }
}

/** Returns whether browsers send `value` as an origin: without a path, in lower case, without a default port. */
export function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  // URL permits an asterisk in a host, but no browser sends one.
  return new URL(value).origin === value && !value.includes('*')
}
