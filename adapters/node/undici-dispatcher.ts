import type { Dispatcher } from 'undici'

import type { AgentSettings } from './undici-options.ts'

/**
 * Creates the undici agent for `proxy`.
 *
 * @throws {TypeError} for an invalid proxy URL
 */
export function createDispatcher(
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
