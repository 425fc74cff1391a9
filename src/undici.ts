import type { Dispatcher } from 'undici'

import { assertKnownOptions } from './known-options.ts'

/**
 * Creates a `fetch` with a proxy, connection limits, timeouts or a test dispatcher, which Node's own `fetch` lacks. Requires
 * undici (`npm install undici`) and returns undici's `Response`.
 *
 * @throws {TypeError} naming the invalid option
 * @throws {Error} if undici cannot be loaded, and on Bun
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createUndiciFetch } from 'ratesmith/undici'
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

/** Options of `createUndiciFetch()`. */
export interface UndiciFetchOptions {
  /**
   * Proxy URL, `false` for no proxy, or `'environment'` for `HTTPS_PROXY` and `HTTP_PROXY` except for the hosts in
   * `NO_PROXY`, all in upper or lower case (default `'environment'`).
   */
  proxy?: string | false | undefined
  /** Limit of connections per origin (default unlimited). */
  connections?: number | undefined
  /** Timeout of each step in ms; 0 for none (default 10,000 each). */
  timeouts?: { connect?: number; headers?: number; body?: number } | undefined
  /** An undici dispatcher that replaces all other options: a `MockAgent` in tests, or a `RetryAgent`. */
  dispatcher?: { dispatch(options: object, handler: object): boolean } | undefined
}

interface AgentSettings {
  connections: number | null
  connectTimeout: number
  headersTimeout: number
  bodyTimeout: number
}

/** @throws {TypeError} naming the invalid option */
function toAgentSettings(options: UndiciFetchOptions): AgentSettings {
  const { proxy, connections, timeouts = {}, dispatcher } = options
  assertKnownOptions(options, { proxy, connections, timeouts, dispatcher })
  if (dispatcher && (proxy ?? connections ?? options.timeouts) !== undefined) {
    throw new TypeError('dispatcher cannot be combined with proxy, connections or timeouts')
  }
  if (dispatcher && !('dispatch' in dispatcher))
    throw new TypeError('dispatcher must have a method dispatch')
  const { connect = 10_000, headers = 10_000, body = 10_000 } = timeouts
  assertKnownOptions(timeouts, { connect, headers, body }, 'timeouts')
  requireWhole('connections', connections ?? 1, 1)
  requireWhole('timeouts.connect', connect, 0)
  requireWhole('timeouts.headers', headers, 0)
  requireWhole('timeouts.body', body, 0)
  return {
    connections: connections ?? null,
    connectTimeout: connect,
    headersTimeout: headers,
    bodyTimeout: body,
  }
}

function requireWhole(name: string, value: unknown, min: number): void {
  if (Number.isSafeInteger(value) && Number(value) >= min) return
  throw new TypeError(`${name} must be an integer of at least ${min}, got ${String(value)}`)
}

/** @throws {TypeError} for an invalid proxy URL */
function createDispatcher(
  { Agent, EnvHttpProxyAgent, Pool, ProxyAgent }: typeof import('undici'),
  settings: AgentSettings,
  proxy: string | false = 'environment',
): Dispatcher {
  if (proxy === false) return new Agent(settings)
  // The pools that undici creates for connections to a proxy have no limits.
  const factory = (origin: string | URL, options: object): Dispatcher =>
    new Pool(origin, { ...options, ...settings })
  const proxied = { ...settings, factory, clientFactory: factory }
  const fromEnvironment = proxy === 'environment'
  try {
    return fromEnvironment
      ? new EnvHttpProxyAgent(proxied)
      : new ProxyAgent({ ...proxied, uri: proxy })
  } catch {
    const name = fromEnvironment ? 'HTTPS_PROXY or HTTP_PROXY' : 'proxy'
    // Without the cause, which contains the URL and so the password.
    throw new TypeError(`${name} must be a valid proxy URL`)
  }
}
