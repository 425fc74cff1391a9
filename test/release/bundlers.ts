import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { build as runEsbuild } from 'esbuild'
import type { BuildOptions } from 'esbuild'
import { rollup } from 'rollup'
import type { Plugin, RollupLog } from 'rollup'
import { build as runVite } from 'vite'
import type { BuildEnvironmentOptions } from 'vite'

/** Bundles the module at `entry` into the folder `out`; resolves with the path of the bundle. */
export type Bundler = (entry: string, out: string) => Promise<string>

function byEsbuildWith(options: BuildOptions): Bundler {
  return async (entry, out) => {
    const outfile = join(out, 'bundle.js')
    const always = { bundle: true, format: 'esm', logLevel: 'error' } as const
    await runEsbuild({ ...always, ...options, entryPoints: [entry], outfile })
    return outfile
  }
}

/** Bundles everything into one file for Node. */
export const byEsbuild: Bundler = byEsbuildWith({ platform: 'node' })

/** Bundles into one file for a Worker; `node:` modules stay imports, which workerd may refuse. */
export const byEsbuildForWorkers: Bundler = byEsbuildWith({
  platform: 'browser',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['node:*'],
})

/** Resolves the package with its `sideEffects`; dependencies and `node:` modules stay imports. */
const installedPackage: Plugin = {
  name: 'installed-package',
  resolveId(source, importer) {
    if (importer === undefined || source.startsWith('.')) return null
    if (!source.startsWith('ratesmith')) return { id: source, external: true }
    const { resolve } = createRequire(importer)
    const { sideEffects } = createRequire(importer)('ratesmith/package.json')
    return { id: resolve(source), moduleSideEffects: sideEffects !== false }
  },
}

/** Bundles the package, without its dependencies, into chunks. */
export const byRollup: Bundler = async (entry, out) => {
  const onwarn = ({ code, message }: RollupLog): void => {
    if (code !== 'EMPTY_BUNDLE') throw new Error(message)
  }
  const bundle = await rollup({ input: entry, plugins: [installedPackage], onwarn })
  await bundle.write({ dir: out, entryFileNames: 'bundle.js' })
  return join(out, 'bundle.js')
}

/** Bundles everything for a server. */
export const byViteForServers: Bundler = (entry, out) => vite(entry, out, { ssr: entry })

/** Bundles a library for browsers. */
export const byViteAsLibrary: Bundler = (entry, out) =>
  vite(entry, out, { lib: { entry, formats: ['es'] } })

/** Bundles the app whose index.html is in the folder of `entry`. */
export const byViteAsApp: Bundler = (entry, out) => vite(entry, out, {})

async function vite(entry: string, outDir: string, options: BuildEnvironmentOptions) {
  const output = { entryFileNames: 'bundle.js' }
  await runVite({
    root: dirname(entry),
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ...options, outDir, rolldownOptions: { output } },
  })
  return join(outDir, 'bundle.js')
}
