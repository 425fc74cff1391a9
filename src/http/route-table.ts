import { NO_CORS, createCors } from './cors.ts'
import type { Cors, CorsRules } from './cors.ts'
import { ALLOW } from './response.ts'
import type { Endpoint, EndpointGroup, PostEndpoint } from './response.ts'
import type { BoundRoute, Route, RouteMatch } from './routes.ts'
import type { Gate } from './guard.ts'
import type { Target } from './target.ts'
import { Router } from 'itty-router/Router'
import type { IRequest } from 'itty-router'

export interface RouteTableOptions {
  /** Prefix of every path: absolute without a trailing slash, or empty. */
  basePath: string
  /** Endpoints below `/v<digits>`; paths outside the base path use their error format too. */
  versioned: EndpointGroup
  unversioned: EndpointGroup
  /** Page at the base path itself, with or without a trailing slash. */
  page?: Endpoint | undefined
  routes: readonly Route[]
  bindRoute(route: Route, target: Target, params: RouteMatch['params']): Promise<BoundRoute>
  cors: Cors
  gate: Gate | undefined
}

/** What is at a path. */
export interface Resource {
  /** False for an unknown path. */
  matched: boolean
  /** Names the path in metrics; empty for the page and for unknown paths. */
  label: string
  /** Whether unknown paths accept `OPTIONS`. */
  isVersioned: boolean
  cors: CorsRules
  endpoint: Endpoint | undefined
  post?: PostEndpoint | undefined
  /** The allowed methods. */
  allow: string
  cost?: ((query: string, method: string) => number) | undefined
  toFailure: BoundRoute['toFailure']
}

/** Finds what is at a path. Paths of endpoints match exactly: case-sensitive, undecoded, no trailing slash. */
export interface RouteTable {
  /** Resource of paths outside the base path. */
  outside: Resource
  /** Resources of the endpoints that were found, by path. */
  readonly cached: ReadonlyMap<string, Resource>
  find(target: Target): Promise<Resource>
}

/** An endpoint, or a route of the app with what its pattern found. */
type Found = { resource: Resource } | { route: Route; params: RouteMatch['params'] }

export function createRouteTable(tableOptions: RouteTableOptions): RouteTable {
  const { basePath, versioned, unversioned, page, routes, bindRoute } = tableOptions
  const rules = corsRulesOf(tableOptions)
  const unknown = {
    versioned: nothingIn(versioned, rules.versioned, true),
    unversioned: nothingIn(unversioned, rules.unversioned),
    outside: nothingIn(versioned, rules.unversioned),
  }
  const endpoints: [path: string, resource: Resource][] = [
    ...resourcesOf(versioned, unknown.versioned),
    ...resourcesOf(unversioned, unknown.unversioned),
  ]
  if (page) {
    const resource = { ...unknown.unversioned, matched: true, endpoint: page, cost: () => 0 }
    endpoints.push(['/', resource])
  }
  const match = createMatch(basePath, endpoints, routes)
  const cached = new Map<string, Resource>()

  function unknownAt(path: string): Resource {
    if (path !== basePath && !path.startsWith(`${basePath}/`)) return unknown.outside
    const isVersioned = /^\/v\d+(\/|$)/.test(path.slice(basePath.length))
    return isVersioned ? unknown.versioned : unknown.unversioned
  }

  return {
    outside: unknown.outside,
    cached,
    async find(target) {
      const { path } = target
      const found = await match(target)
      // Unknown paths and those of routes are not cached: their number is unlimited.
      if (!found) return unknownAt(path)
      if ('resource' in found) {
        cached.set(path, found.resource)
        return found.resource
      }
      const bound = await bindRoute(found.route, target, found.params)
      return { ...unknown.versioned, matched: true, ...bound }
    },
  }
}

function nothingIn(group: EndpointGroup, cors: CorsRules, isVersioned = false): Resource {
  return {
    matched: false,
    label: '',
    isVersioned,
    cors,
    endpoint: undefined,
    allow: ALLOW,
    toFailure: (error) => ({ body: group.errorBody(error) }),
  }
}

function resourcesOf(
  { endpoints, posts, costs }: EndpointGroup,
  unknown: Resource,
): [string, Resource][] {
  return Object.entries(endpoints).map(([path, endpoint]) => {
    const post = posts?.[path]
    const methods = { endpoint, post, allow: post ? `${ALLOW}, POST` : ALLOW }
    return [path, { ...unknown, ...methods, matched: true, label: path, cost: costs?.[path] }]
  })
}

/** @throws {TypeError} for a route whose pattern is invalid or matches an endpoint */
function createMatch(
  basePath: string,
  endpoints: readonly [path: string, resource: Resource][],
  routes: readonly Route[],
): (target: Target) => Promise<Found | undefined> {
  const router = Router<IRequest, [], Found | undefined>()
  for (const [path, resource] of endpoints) {
    // itty-router also matches trailing slashes.
    const exact = basePath + path
    router.all(escapePattern(basePath) + path, ({ path: requested }): Found | undefined =>
      requested === exact || (path === '/' && requested === basePath) ? { resource } : undefined,
    )
  }
  for (const route of routes) {
    try {
      router.all(route.path, ({ params }): Found => ({ route, params }))
    } catch (cause) {
      throw new TypeError(`the path of a route must be a pattern, got ${route.path}`, { cause })
    }
    const pattern = router.routes.at(-1)?.[1]
    const taken = endpoints.find(([path]) => pattern?.test(basePath + path))
    if (!taken) continue
    throw new TypeError(
      `a route must not match an endpoint: ${route.path} matches ${basePath}${taken[0]}`,
    )
  }
  return async ({ path }) => {
    if (path !== '' && !path.startsWith('/')) return undefined
    return router.fetch({ method: 'GET', url: `http://localhost${path}`, path })
  }
}

/** Escapes what a pattern of itty-router or a regular expression would read as more than a character. */
function escapePattern(path: string): string {
  return path.replace(/[^\w/~-]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function corsRulesOf({ cors, gate }: Pick<RouteTableOptions, 'cors' | 'gate'>) {
  const rules = createCors(typeof cors === 'string' ? '*' : cors, gate !== undefined)
  return {
    versioned: cors === 'off' ? NO_CORS : rules,
    unversioned: cors === 'all' ? rules : NO_CORS,
  }
}
