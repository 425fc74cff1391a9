import { RatesError } from 'ratesmith/client'

import { parseRetryAfter, requireBody } from '../src/response-body.ts'
import type { FieldOf } from '../src/response-body.ts'
import { exchange } from './exchange.ts'
import type { Exchange } from './exchange.ts'

/** Options of a request. */
export interface RequestOptions {
  signal?: AbortSignal
  /** Receives the response. */
  observe?: (exchange: Exchange) => void
}

/**
 * Requests `url`, and returns the body of the response, which must have `field`. Does without the checks, the cache and the
 * retries of the client, which would take a tenth of the page.
 *
 * @throws {RatesError} if the request fails
 * @throws {DOMException} `AbortError` if `signal` aborts
 */
export async function requestBody<Body>(
  url: string,
  field: FieldOf<Body>,
  headers: Record<string, string>,
  { signal, observe }: RequestOptions,
): Promise<Body> {
  let response: Exchange
  try {
    response = await exchange(new Request(url, { headers, signal: signal ?? null }))
  } catch (cause) {
    signal?.throwIfAborted()
    throw new RatesError('provider_unavailable', 'The service cannot be reached', { cause })
  }
  signal?.throwIfAborted()
  observe?.(response)
  const retryAfter = parseRetryAfter(response.headers.get('retry-after'), Date.now())
  return requireBody<Body>({ ...response, retryAfter }, field)
}
