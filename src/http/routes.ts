import type { RatesOperations } from '../api/operations.ts'
import type { RatesError } from '../errors.ts'
import { assertKnownOptions, requireFunctions } from '../known-options.ts'
import type { BodyReceiver } from './body.ts'
import type { Limiter } from './limiter.ts'
import type { Endpoint, PostEndpoint } from './response.ts'

/** The request to a route. */
export interface RouteRequest extends Request {
  /** Named parts of the path, as sent. */
  readonly params: Readonly<Record<string, string | undefined>>
  /** Query parameters, decoded; a repeated one has an array. */
  readonly query: Readonly<Record<string, string | string[] | undefined>>
}

/** What a route uses of its handler, besides the rates. */
export interface RouteContext {
  /** Returns the time by the clock of the handler, in ms since the Unix epoch. */
  now(): number
  /**
   * Runs expensive work, at most two pieces at a time over all endpoints of the handler. Load data before: work that waits
   * delays others. Rejects with a `RatesError` (`overloaded`) after 3 s in the queue.
   */
  run<Result>(work: () => Result | Promise<Result>): Promise<Result>
}

/** Returns a response, or an object to send as JSON; may throw a `RatesError`. */
export type RouteFunction = (
  request: RouteRequest,
  rates: RatesOperations,
  context: RouteContext,
) => Response | object | Promise<Response | object>

/** A path that a handler serves in addition to its own. */
export interface Route {
  /** Pattern of the path from the root of the host, in the syntax of itty-router: `/shop/:currency`. */
  path: string
  /** Responds to `GET` and `HEAD` (default none: 405). */
  get?: RouteFunction | undefined
  /** Responds to `POST`, with a body of at most 1 MiB (default none: 405). */
  post?: RouteFunction | undefined
  /**
   * What a request takes from the limits of the client, a whole number from 1 to 10; 0 for a route without keys and limits
   * (default 1). A function also gets the time of the handler's clock, in ms since the Unix epoch; a fraction is rounded up,
   * and 10 is taken if it throws or returns anything else.
   */
  cost?: number | CostFunction | undefined
  /** Returns the body of an error response, and its status if that differs (default that of `/api/v1`). */
  error?: ((error: RatesError) => { body: object; status?: number | undefined }) | undefined
}

/** Routes, and lists of routes. */
export type Routes = readonly (Route | readonly Route[])[]

/** What a pattern found in a request. */
export type RouteMatch = Pick<RouteRequest, 'params' | 'query'>

export type CostFunction = (request: RouteMatch & { method: string }, now: number) => number

/** A route with what its pattern found in a request. */
export interface BoundRoute {
  /** Names the route in metrics. */
  label: string
  /** The allowed methods. */
  allow: string
  /** Returns the body of an error response, and its status if that differs. */
  toFailure(error: RatesError): { body: object; status?: number | undefined }
  endpoint: Endpoint | undefined
  post: PostEndpoint | undefined
  cost(query: string, method: string): number
}

const KNOWN: Readonly<Record<keyof Route, true>> = {
  path: true,
  get: true,
  post: true,
  cost: true,
  error: true,
}

export const MAX_COST = 10

/** @throws {TypeError} that names the invalid route */
export function requireRoutes(given: Routes): readonly Route[] {
  if (!Array.isArray(given)) throw new TypeError(`routes must be an array, got ${typeof given}`)
  const routes: Route[] = given.flat(Infinity)
  for (const [index, route] of routes.entries()) requireRoute(route, `routes[${index}]`)
  return routes
}

function requireRoute(route: Route, name: string): void {
  assertKnownOptions(route, KNOWN, name)
  const { path, get, post, cost = 1, error } = route
  if (!String(path).startsWith('/')) {
    throw new TypeError(`${name}.path must be a path from the root, got ${path}`)
  }
  requireFunctions({ [`${name}.get`]: get, [`${name}.post`]: post, [`${name}.error`]: error })
  if (!get && !post) throw new TypeError(`${name} must have get or post`)
  if (typeof cost !== 'function' && !isCost(cost)) {
    throw new TypeError(
      `${name}.cost must be a whole number from 0 to ${MAX_COST}, got ${String(cost)}`,
    )
  }
}

export function isCost(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COST
}

/** What all routes of a handler use. */
export interface RouteServices {
  rates: RatesOperations
  limiter: Limiter
  now: () => number
  bodies: () => Promise<BodyReceiver>
  /** Whether the handler sends CORS headers, instead of those of a route. */
  hasCors: boolean
  errorBody(error: RatesError): object
}
