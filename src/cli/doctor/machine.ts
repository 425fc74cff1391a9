import manifest from 'ratesmith/package.json' with { type: 'json' }

import type { CommandContext } from '../context.ts'
import { platform } from '../platform.ts'
import type { CheckResult } from './check-result.ts'

const NAMES = { node: 'Node', bun: 'Bun', deno: 'Deno' }

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy']

/** Reports the runtime; its minimum version is checked before. */
export function checkRuntime({ versions }: CommandContext): CheckResult {
  return {
    subject: 'runtime',
    ok: true,
    found: `${NAMES[platform]} ${versions[platform] ?? ''}, ratesmith ${manifest.version}`,
    advice: null,
  }
}

/** Reports the variables that set proxies for upstream calls. */
export function checkProxies(env: NodeJS.ProcessEnv): CheckResult[] {
  const names = PROXIES.filter((name) => env[name])
  if (names.length === 0) return []
  const found = names.map((name) => `${name}=${env[name]}`).join(' ')
  return [{ subject: 'proxies', ok: true, found, advice: null }]
}
