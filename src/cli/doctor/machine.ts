import manifest from 'ratesmith/package.json' with { type: 'json' }

import type { CommandContext } from '../context.ts'
import { platform } from '../platform.ts'
import type { Finding } from './finding.ts'

const NAMES = { node: 'Node', bun: 'Bun', deno: 'Deno' }

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy']

/** The runtime; one that is too old has been refused before. */
export function examineRuntime({ versions }: CommandContext): Finding {
  return {
    subject: 'runtime',
    ok: true,
    found: `${NAMES[platform]} ${versions[platform] ?? ''}, ratesmith ${manifest.version}`,
    advice: null,
  }
}

/** The variables that send upstream calls through a proxy, or past it. */
export function examineProxies(env: NodeJS.ProcessEnv): Finding[] {
  const names = PROXIES.filter((name) => env[name])
  if (names.length === 0) return []
  const found = names.map((name) => `${name}=${env[name]}`).join(' ')
  return [{ subject: 'proxies', ok: true, found, advice: null }]
}
