import type { FetchHandler, RunningServer, ServeOptions } from '../../adapters/node.ts'

/** The part of an adapter that is used. */
interface Adapter {
  serve(handler: FetchHandler, options: ServeOptions): Promise<RunningServer>
}

const ADAPTERS = {
  node: (): Promise<Adapter> => import('../../adapters/node.ts'),
  bun: (): Promise<Adapter> => import('../../adapters/bun.ts'),
  deno: (): Promise<Adapter> => import('../../adapters/deno.ts'),
}

/** What this process runs on. */
export const platform: keyof typeof ADAPTERS = detect()

/** The adapter of this platform; the others are not loaded. */
export function loadAdapter(): Promise<Adapter> {
  return ADAPTERS[platform]()
}

function detect(): keyof typeof ADAPTERS {
  // Both have a `process.versions.node` too.
  if (process.versions['bun']) return 'bun'
  return process.versions['deno'] ? 'deno' : 'node'
}
