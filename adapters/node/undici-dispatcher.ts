import type { Dispatcher } from 'undici'

import type { AgentSettings } from './undici-options.ts'

/**
 * The agent of undici that goes through `proxy`.
 *
 * @throws {TypeError} where that is none
 */
export function createDispatcher(
  { Agent, EnvHttpProxyAgent, Pool, ProxyAgent }: typeof import('undici'),
  settings: AgentSettings,
  proxy: string | false = 'environment',
): Dispatcher {
  if (proxy === false) return new Agent(settings)
  // Those that undici makes for the connections to a proxy itself would have no limits.
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
    // Without its cause, which has the whole URL and so the password.
    throw new TypeError(`${name} must be the URL of a proxy`)
  }
}
