import manifest from 'ratesmith/package.json' with { type: 'json' }

import { platform } from '../platform.ts'
import type { Finding } from './finding.ts'

const NAMES = { node: 'Node', bun: 'Bun', deno: 'Deno' }

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy']

/** The runtime, and whether ratesmith is meant for it. */
export function examineRuntime(): Finding {
  const version = process.versions[platform] ?? ''
  const needed = manifest.engines.node.replace('>=', '')
  const ok = platform !== 'node' || !isOlder(version, needed)
  return {
    subject: 'runtime',
    ok,
    found: `${NAMES[platform]} ${version}, ratesmith ${manifest.version}`,
    advice: ok ? null : `ratesmith needs Node ${needed} or newer`,
  }
}

/** Whether one version, of numbers between points, is older than another. */
export function isOlder(version: string, needed: string): boolean {
  const [have, want] = [version, needed].map((text) => text.split('.').map(Number))
  for (const [index, number] of (want ?? []).entries()) {
    const own = have?.[index] ?? 0
    if (own !== number) return own < number
  }
  return false
}

/** The variables that send upstream calls through a proxy, or past it. */
export function examineProxies(env: NodeJS.ProcessEnv): Finding[] {
  const names = PROXIES.filter((name) => env[name])
  if (names.length === 0) return []
  const found = names.map((name) => `${name}=${env[name]}`).join(' ')
  return [{ subject: 'proxies', ok: true, found, advice: null }]
}
