import type { RatesError } from '../errors.ts'
import type { EndpointResponse, RawRequest } from './raw.ts'
import type { Representation } from './representation.ts'
import type { DataResult } from './respond.ts'

/** The result of an endpoint: data to send with status 200, or a complete response. */
export type EndpointResult = DataResult | EndpointResponse

/** The parts of a request that an endpoint reads besides the query. */
export interface RequestContext extends Pick<RawRequest, 'signal'> {
  /** Encodes an expensive body of this request; the limiter counts the job as running until then. Never rejects. */
  encode?(representation: Representation): Promise<void> | undefined
}

/**
 * The function behind one path. `query` is raw, without the question mark; `request.signal` ends the wait for data. Returns
 * a promise only if it has to wait, because a synchronous result is much cheaper.
 */
export type Endpoint = (
  query: string,
  request: RequestContext,
) => EndpointResult | Promise<EndpointResult>

/** Endpoints that share one error format. */
export interface EndpointGroup {
  /** Endpoints by path below the base path. */
  endpoints: Readonly<Record<string, Endpoint>>
  /** Returns the JSON body for `error`. */
  errorBody(error: RatesError): object
}
