import { createRequire } from 'node:module'
import { join } from 'node:path'

import { build } from 'esbuild'

import { ROOT } from './root.ts'

/** What of Miniflare is used: its own declarations need packages that it does not bring along. */
interface Simulator {
  /** Where a Worker with a direct socket listens. */
  unsafeGetDirectURL(): Promise<URL>
  getWorker(name: string): Promise<{ fetch(url: string): Promise<Response> }>
  dispose(): Promise<void>
}

/** Cloudflare's simulator: real workerd, and stand-ins for the services around it. */
export const { Miniflare }: { Miniflare: new (options: object) => Simulator } = createRequire(
  import.meta.url,
)('miniflare')

/** What `Miniflare` is told of a Worker beside its bindings: `program` with the built package in it, as a user's tools make it. */
export async function workerOptions(program: string): Promise<object> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, program)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    conditions: ['workerd', 'worker', 'import'],
    external: ['cloudflare:*'],
    logLevel: 'error',
    // Without the paths of the tests' own configuration, which lead to the sources.
    tsconfigRaw: {},
  })
  const script = outputFiles[0]?.text ?? ''
  return { modules: true, script, compatibilityDate: '2026-07-01' }
}
