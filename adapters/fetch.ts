import { toFetchStyle } from '../src/http/response.ts'
import type { ResponseClass } from '../src/http/response.ts'
import { assertKnownOptions } from '../src/known-options.ts'
import type { Answer } from './server.ts'

export type { ResponseClass } from '../src/http/response.ts'

/** Options of `toFetchHandler()`. */
export interface FetchHandlerOptions {
  /** The class of the responses (default the platform's, or the one by which the server has replaced it). */
  Response?: ResponseClass | undefined
}

/**
 * Returns a fetch-style handler whose responses are of a server's own class. On Node, servers that take `Request` and `Response`
 * send their own responses several times as fast as those of the platform.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { Response, createServerAdapter } from '@whatwg-node/server'
 * import { createRatesHandler } from 'ratesmith'
 * import { toFetchHandler } from 'ratesmith/fetch'
 *
 * const fetch = toFetchHandler(createRatesHandler(), { Response })
 * createServer(createServerAdapter(fetch)).listen(3000, '127.0.0.1')
 * ```
 */
export function toFetchHandler(
  handler: { answer: Answer },
  options: FetchHandlerOptions = {},
): (request: Request, info?: unknown) => Promise<Response> {
  const { Response: Light } = options
  assertKnownOptions(options, { Response: true })
  if (Light !== undefined && typeof Light !== 'function') {
    throw new TypeError('Response must be a class')
  }
  return toFetchStyle((request) => handler.answer(request), Light)
}
