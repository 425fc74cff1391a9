import { createDispatcher } from './undici-dispatcher.ts'
import { toAgentSettings } from './undici-options.ts'
import type { UndiciFetchOptions } from './undici-options.ts'

/**
 * A `fetch` for what Node's own leaves out: proxies, limits, and stand-ins in tests. It is undici's, which has to be
 * installed beside this package, and answers with undici's `Response`.
 *
 * @throws {TypeError} naming the option that cannot be used
 * @throws {Error} where undici cannot be loaded
 */
export async function createUndiciFetch(options: UndiciFetchOptions = {}): Promise<typeof fetch> {
  const settings = toAgentSettings(options)
  const undici = await import('undici').catch((cause: unknown) => {
    throw new Error('undici cannot be loaded; install it: npm install undici', { cause })
  })
  const dispatcher = options.dispatcher ?? createDispatcher(undici, settings, options.proxy)
  // Its own: Node's and this one understand neither each other's dispatchers nor each other's requests.
  const ask = undici.fetch as unknown as (input: unknown, init: object) => Promise<Response>
  return async (input, init) => {
    const target = input instanceof Request ? new undici.Request(input.url, Object(input)) : input
    return ask(target, { ...init, dispatcher })
  }
}
