import { RatesError } from 'ratesmith/client'
import type { RatesErrorCode } from 'ratesmith/client'

import { exchange } from './exchange.ts'
import type { Exchange } from './exchange.ts'

/** Options of a request. */
export interface RequestOptions {
  signal?: AbortSignal
  /** Receives the response. */
  observe?: (exchange: Exchange) => void
}

/** Statuses of gateways for an unavailable service and for too many requests. */
const UNAVAILABLE = [429, 502, 503, 504]

/**
 * Requests `url`, and returns the body of the response. Does what the client does without its checks and retries, which would
 * take a tenth of the page.
 *
 * @throws {RatesError} if the request fails
 * @throws {DOMException} `AbortError` if `signal` aborts
 */
export async function requestBody<Body extends object>(
  url: string,
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
  let body: (Body & { error?: undefined }) | { error: Failure } | undefined
  try {
    body = JSON.parse(response.text)
  } catch {
    // The page of a gateway.
  }
  if (response.status === 200 && body && !body.error) return body
  throw failureOf(response, body?.error)
}

interface Failure {
  code: RatesErrorCode
  message: string
}

/** Returns the error of a response, from its body or else from its status. */
function failureOf({ status, headers }: Exchange, error?: Failure): RatesError {
  const given = headers.get('retry-after') ?? ''
  const seconds = Number(given) || Math.ceil((Date.parse(given) - Date.now()) / 1_000)
  const { code, message }: Failure = error?.message
    ? error
    : {
        code: UNAVAILABLE.includes(status) ? 'provider_unavailable' : 'internal_error',
        message: `Unexpected response with status ${status}`,
      }
  return new RatesError(code, message, { retryAfter: seconds >= 0 ? seconds : undefined })
}
