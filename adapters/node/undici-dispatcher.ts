import type { Dispatcher } from 'undici'

import type { AgentSettings } from './undici-options.ts'

/**
 * The agent of undici that goes through `proxy`.
 *
 * @throws {TypeError} where that is none
 */
export function createDispatcher(
  { Agent, EnvHttpProxyAgent, Pool, ProxyAgent }: typeof import('undici'),
  { connections, ...limits }: AgentSettings,
  proxy: string | false = 'environment',
): Dispatcher {
  if (proxy === false) return new Agent({ connections, ...limits })
  const settings = {
    connections,
    ...limits,
    // Otherwise a proxy that accepts a connection and then says nothing would hold it for minutes.
    clientFactory: (origin: URL, options: object): Dispatcher =>
      new Pool(origin, { ...options, ...limits }),
  }
  const fromEnvironment = proxy === 'environment'
  try {
    return fromEnvironment
      ? new EnvHttpProxyAgent(settings)
      : new ProxyAgent({ ...settings, uri: proxy })
  } catch {
    const name = fromEnvironment ? 'HTTPS_PROXY or HTTP_PROXY' : 'proxy'
    // Without its cause, which has the whole URL and so the password.
    throw new TypeError(`${name} must be the URL of a proxy`)
  }
}
