import type { RatesError } from '../errors.ts'
import type { RawRequest, EndpointResponse } from './raw.ts'
import type { Representation } from './representation.ts'
import type { DataResult } from './respond.ts'

/** What an endpoint answers with: a success, or any other reply. */
export type EndpointResult = DataResult | EndpointResponse

/** What an endpoint reads of a request apart from its query. */
export interface RequestContext extends Pick<RawRequest, 'signal'> {
  /** Encodes an expensive body that has been made for this request; it counts as under way until then. Never rejects. */
  encode?(made: Representation): Promise<void> | undefined
}

/**
 * What is behind one path. `query` is raw, without the question mark; the `signal` of `waiter` ends its waiting. It answers at
 * once where it need not wait, which is much cheaper.
 */
export type Endpoint = (
  query: string,
  waiter: RequestContext,
) => EndpointResult | Promise<EndpointResult>

/** Endpoints that share the form of their errors. */
export interface EndpointGroup {
  /** By path below the base path. */
  endpoints: Readonly<Record<string, Endpoint>>
  /** The body that tells `error`. */
  errorBody(error: RatesError): object
}
