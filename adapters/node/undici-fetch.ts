import { createDispatcher } from './undici-dispatcher.ts'
import { toAgentSettings } from './undici-options.ts'
import type { UndiciFetchOptions } from './undici-options.ts'

/**
 * A `fetch` for what Node's own leaves out: a proxy of your choice, limits, stand-ins in tests. It is undici's, which has
 * to be installed beside this package, and answers with undici's `Response`.
 *
 * @throws {TypeError} naming the option that cannot be used
 * @throws {Error} where undici cannot be loaded, and on Bun
 */
export async function createUndiciFetch(options: UndiciFetchOptions = {}): Promise<typeof fetch> {
  const settings = toAgentSettings(options)
  // Bun puts something in undici's place that takes no notice of dispatchers, and would go past a proxy.
  if ('Bun' in globalThis) throw new Error('undici does not run on Bun; its own fetch has proxies')
  const undici = await import('undici').catch((cause: unknown) => {
    throw new Error('undici cannot be loaded; install it: npm install undici', { cause })
  })
  const dispatcher = options.dispatcher ?? createDispatcher(undici, settings, options.proxy)
  // Its own: Node's and this one understand neither each other's dispatchers nor each other's requests.
  const ask = undici.fetch as unknown as (input: unknown, init: object) => Promise<Response>
  return async (input, init) => {
    const target = input instanceof Request ? new undici.Request(input.url, Object(input)) : input
    return ask(new undici.Request(target, Object(init)), { dispatcher })
  }
}
