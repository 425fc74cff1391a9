import { Router } from 'itty-router/Router'

import type { Endpoint, EndpointGroup } from './endpoint.ts'

/** Where what is. */
export interface RouteTableOptions {
  /** Prefix of every path: absolute and without a trailing slash, or empty. */
  basePath: string
  /** Below `/v<digits>`; its errors also answer paths outside the base path. */
  versioned: EndpointGroup
  /** Everything else below the base path. */
  unversioned: EndpointGroup
  /** At the base path itself, with or without a slash behind it. */
  page?: Endpoint | undefined
  /** Which answers every origin may read. */
  cors: 'v1' | 'all' | 'off'
}

/** The place of a path in the service. */
export interface Route {
  group: EndpointGroup
  /** Whether unknown paths may be asked with `OPTIONS`. */
  isVersioned: boolean
  /** Whether every origin may read the answers. */
  isOpen: boolean
  /** Undefined where nothing is. */
  endpoint: Endpoint | undefined
}

/** Finds the place of a path, which is matched to the letter: case-sensitive, undecoded, no trailing slash. */
export interface RouteTable {
  /** Where paths are that do not begin with the base path. */
  outside: Route
  /** The place of an endpoint that was found before. */
  findCached(path: string): Route | undefined
  find(path: string): Promise<Route>
}

/** A locator of these places. */
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
    // itty-router also matches a path with slashes behind it.
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
      // Only the paths of endpoints are worth keeping, and few enough.
      if (endpoint) found.set(path, route)
      return route
    },
  }
}
