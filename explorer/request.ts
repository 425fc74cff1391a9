import { RatesError } from 'ratesmith/client'

import { parseRetryAfter, requireBody } from '../src/response-body.ts'
import type { FieldOf } from '../src/response-body.ts'

export interface Exchange {
  status: number
  headers: Headers
  text: string
  /** From the request to the end of the body, in ms. */
  elapsed: number
}

export interface RequestOptions {
  signal?: AbortSignal
  observe?: (exchange: Exchange) => void
}

export interface Service {
  /** The base path of the API. */
  base: string
  /**
   * Requests a path below the base path with the current key, and returns the body of the response, which must have `field`.
   *
   * @throws {RatesError} if the request fails
   * @throws {DOMException} `AbortError` if the signal aborts
   */
  request<Body>(path: string, field: FieldOf<Body>, options?: RequestOptions): Promise<Body>
  /** The header with the current key, or none. */
  keyHeader(): Record<string, string>
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
  let exchange: Exchange
  const startedAt = performance.now()
  try {
    const response = await fetch(url, { headers, signal: signal ?? null })
    const text = await response.text()
    const elapsed = performance.now() - startedAt
    exchange = { status: response.status, headers: response.headers, text, elapsed }
  } catch (cause) {
    signal?.throwIfAborted()
    throw new RatesError('provider_unavailable', 'The service cannot be reached', { cause })
  }
  signal?.throwIfAborted()
  observe?.(exchange)
  const retryAfter = parseRetryAfter(exchange.headers.get('retry-after'), Date.now())
  return requireBody<Body>({ ...exchange, retryAfter }, field)
}
