import { createDispatcher } from './undici-dispatcher.ts'
import { toAgentSettings } from './undici-options.ts'
import type { UndiciFetchOptions } from './undici-options.ts'

/**
 * Creates a `fetch` with a proxy, connection limits, timeouts or a test dispatcher, which Node's own `fetch` lacks. Requires
 * undici (`npm install undici`) and returns undici's `Response`.
 *
 * @throws {TypeError} naming the invalid option
 * @throws {Error} if undici cannot be loaded, and on Bun
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createUndiciFetch } from 'ratesmith/node'
 *
 * const fetch = await createUndiciFetch({ proxy: 'http://127.0.0.1:3128', connections: 4 })
 * export default createRatesHandler({ fetch })
 * ```
 */
export async function createUndiciFetch(options: UndiciFetchOptions = {}): Promise<typeof fetch> {
  const settings = toAgentSettings(options)
  // Bun replaces undici with a module that ignores dispatchers and so would bypass the proxy.
  if ('Bun' in globalThis) {
    throw new Error("undici is not supported on Bun; use the option proxy of Bun's fetch")
  }
  const undici = await import('undici').catch((cause: unknown) => {
    throw new Error('undici cannot be loaded; run: npm install undici', { cause })
  })
  const dispatcher = options.dispatcher ?? createDispatcher(undici, settings, options.proxy)
  // Node's fetch accepts neither the dispatchers nor the requests of an installed undici.
  const undiciFetch = undici.fetch as unknown as (input: unknown, init: object) => Promise<Response>
  return async (input, init) => {
    const target = input instanceof Request ? new undici.Request(input.url, Object(input)) : input
    return undiciFetch(new undici.Request(target, Object(init)), { dispatcher })
  }
}
