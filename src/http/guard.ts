import type { RatesError } from '../errors.ts'
import type { EndpointResponse, RawRequest } from './messages.ts'

/** A request to a guarded endpoint. */
export interface GuardedRequest {
  request: RawRequest
  /** Raw query, without the question mark. */
  query: string
  /** What the request takes from every limit, 1 or more. */
  cost: number
}

/** How requests send a key, for the OpenAPI document. */
export interface KeyRules {
  /** Whether requests without a key are served. */
  isOptional: boolean
  /** Query parameters that may contain the key. */
  queryParameters: readonly string[]
}

/** Decides which requests are served, and counts them. */
export interface Guard {
  /** How requests send a key (default: a key is required, in a header). */
  readonly keyRules?: KeyRules | undefined
  /**
   * Decides about a request before its endpoint runs. Never throws or rejects. Returns a promise only if it has to wait,
   * because a synchronous result is much cheaper.
   */
  admit(request: GuardedRequest): Admission | Promise<Admission>
  /** Ends timers and connections that the guard has opened. */
  close(): void
}

/** The decision about one request. */
export interface Admission {
  /** The error to respond with instead of running the endpoint. */
  readonly refusal: RatesError | undefined
  /**
   * Returns `response` with the headers that the decision requires. Called once, with the complete response. `cost` is the
   * real cost where only the endpoint knew it; the guard gives the rest back.
   */
  finish(response: EndpointResponse, cost?: number): EndpointResponse
}
