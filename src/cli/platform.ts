import type { FetchHandler, RunningServer, ServeOptions } from '../../adapters/node.ts'

interface Adapter {
  serve(handler: FetchHandler, options: ServeOptions): Promise<RunningServer>
}

const ADAPTERS = {
  node: (): Promise<Adapter> => import('../../adapters/node.ts'),
  bun: (): Promise<Adapter> => import('../../adapters/bun.ts'),
  deno: (): Promise<Adapter> => import('../../adapters/deno.ts'),
}

/** The current runtime. */
export const platform: keyof typeof ADAPTERS = detect()

/** Loads the adapter of the current runtime. */
export function loadAdapter(): Promise<Adapter> {
  return ADAPTERS[platform]()
}

function detect(): keyof typeof ADAPTERS {
  // Bun and Deno also have `process.versions.node`.
  if (process.versions['bun']) return 'bun'
  return process.versions['deno'] ? 'deno' : 'node'
}
