import type { RatesOperations } from '../api/operations.ts'
import type { RatesError } from '../errors.ts'

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
  /** What a request takes from the limits of the client, from 1 to 10; 0 for a route without keys and limits (default 1). */
  cost?:
    | number
    | ((request: Pick<RouteRequest, 'method' | 'params' | 'query'>) => number)
    | undefined
  /** Returns the body of an error response, and its status if that differs (default that of `/api/v1`). */
  error?: ((error: RatesError) => { body: object; status?: number | undefined }) | undefined
}
