import { Router } from 'itty-router/Router'

import type { Endpoint, EndpointGroup } from './endpoint.ts'

/** The paths of a service. */
export interface RouteTableOptions {
  /** Prefix of every path: absolute without a trailing slash, or empty. */
  basePath: string
  /** Endpoints below `/v<digits>`; paths outside the base path use their error format too. */
  versioned: EndpointGroup
  /** All other endpoints below the base path. */
  unversioned: EndpointGroup
  /** Page at the base path itself, with or without a trailing slash. */
  page?: Endpoint | undefined
  /** Which endpoints send CORS headers. */
  cors: 'v1' | 'all' | 'off'
}

/** The route of a path. */
export interface Route {
  group: EndpointGroup
  /** Whether unknown paths accept `OPTIONS`. */
  isVersioned: boolean
  /** Whether responses have CORS headers. */
  isOpen: boolean
  /** Undefined for an unknown path. */
  endpoint: Endpoint | undefined
}

/** Finds the route of a path. Matches exactly: case-sensitive, undecoded, no trailing slash. */
export interface RouteTable {
  /** Route of paths outside the base path. */
  outside: Route
  /** Returns the route of an endpoint found before, without a promise. */
  findCached(path: string): Route | undefined
  find(path: string): Promise<Route>
}

/** Creates a route table. */
export function createRouteTable({
  basePath,
  versioned,
  unversioned,
  page,
  cors,
}: RouteTableOptions): RouteTable {
  const router = Router()
  for (const group of [versioned, unversioned]) {
    for (const [path, endpoint] of Object.entries(group.endpoints)) {
      router.all(path, () => endpoint)
    }
  }
  const found = new Map<string, Route>()
  const openToAll = cors === 'all'
  const outside: Route = {
    group: versioned,
    isVersioned: false,
    isOpen: openToAll,
    endpoint: undefined,
  }

  async function endpointAt(local: string): Promise<Endpoint | undefined> {
    if (local === '' || local === '/') return page
    // itty-router also matches paths with trailing slashes.
    if (local.endsWith('/')) return undefined
    return router.fetch({ method: 'GET', url: `http://localhost${local}` })
  }

  return {
    outside,
    findCached: (path) => found.get(path),
    async find(path) {
      const isBelow = path === basePath || path.startsWith(`${basePath}/`)
      if (!isBelow) return outside
      const local = path.slice(basePath.length)
      const isVersioned = /^\/v\d+(\/|$)/.test(local)
      const endpoint = await endpointAt(local)
      const route: Route = {
        group: isVersioned ? versioned : unversioned,
        isVersioned,
        isOpen: openToAll || (cors === 'v1' && isVersioned),
        endpoint,
      }
      // Unknown paths are not cached: their number is unlimited.
      if (endpoint) found.set(path, route)
      return route
    },
  }
}
