import { assertKnownOptions } from '../known-options.ts'
import { startTimer } from '../runtime.ts'
import { requireBaseUrl } from './base-url.ts'
import { createCall } from './call.ts'
import { createExchange } from './exchange.ts'
import { createOperations } from './operations.ts'
import type { RatesClient } from './operations.ts'

/** Options of `createRatesClient`. */
export interface RatesClientOptions {
  /** URL of the handler with its base path: `https://app.example/api`, or in a browser `/api`. */
  baseUrl: string
  /** Sends every request; may be a handler (default `globalThis.fetch`, looked up at each call). */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** How many times a call is retried after a 502, or a 503 with `Retry-After` (default 2). */
  retries?: number | undefined
}

/**
 * Creates a typed client for a mounted handler. It runs in browsers and on every runtime with `fetch`.
 *
 * Calls are retried after a 502, or a 503 with `Retry-After`: after that delay (at most 10 s), or else after 1 s, 2 s and so on.
 *
 * @throws {TypeError} naming the invalid option
 * @example
 * ```ts
 * import { createRatesClient } from 'ratesmith/client'
 *
 * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
 * const { result } = await client.convert({ from: 'USD', to: 'EUR', amount: 100 })
 * console.log(result)
 * ```
 */
export function createRatesClient(options: RatesClientOptions): RatesClient {
  const { baseUrl, fetch = (request) => globalThis.fetch(request), retries = 2 } = options
  assertKnownOptions(options, { baseUrl, fetch, retries })
  const root = requireBaseUrl(baseUrl)
  if (typeof fetch !== 'function') throw new TypeError('fetch must be a function')
  if (!(retries >= 0)) throw new TypeError(`retries must be a number >= 0, got ${retries}`)
  const exchange = createExchange(fetch, Date.now)
  return createOperations(createCall({ root, exchange, retries, startTimer }))
}
