import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { build as runEsbuild } from 'esbuild'
import { rollup } from 'rollup'
import type { Plugin, RollupLog } from 'rollup'
import { build as runVite } from 'vite'
import type { BuildEnvironmentOptions } from 'vite'

/** Bundles the module at `entry` into the folder `out`; resolves with the path of the bundle. */
export type Bundler = (entry: string, out: string) => Promise<string>

/** Bundles everything into one file for Node. */
export const byEsbuild: Bundler = async (entry, out) => {
  const outfile = join(out, 'bundle.js')
  const options = { format: 'esm', platform: 'node', logLevel: 'error' } as const
  await runEsbuild({ ...options, entryPoints: [entry], outfile, bundle: true })
  return outfile
}

/** Bundles into one file for a Worker; `node:` modules stay imports, which workerd may refuse. */
export const byEsbuildForWorkers: Bundler = async (entry, out) => {
  const outfile = join(out, 'worker.js')
  const options = { format: 'esm', platform: 'browser', logLevel: 'error' } as const
  const conditions = ['workerd', 'worker', 'browser']
  const inputs = { entryPoints: [entry], conditions, external: ['node:*'] }
  await runEsbuild({ ...options, ...inputs, outfile, bundle: true })
  return outfile
}

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
export const byViteForServers: Bundler = async (entry, out) => {
  await vite(entry, { ssr: entry, outDir: out })
  return join(out, 'bundle.js')
}

/** Bundles a library for browsers. */
export const byViteAsLibrary: Bundler = async (entry, out) => {
  await vite(entry, { lib: { entry, formats: ['es'] }, outDir: out })
  return join(out, 'bundle.js')
}

/** Bundles the app whose index.html is in the folder of `entry`. */
export const byViteAsApp: Bundler = async (entry, out) => {
  await vite(entry, { outDir: out })
  return join(out, 'index.html')
}

async function vite(entry: string, options: BuildEnvironmentOptions): Promise<void> {
  const output = { entryFileNames: 'bundle.js' }
  await runVite({
    root: dirname(entry),
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ...options, rolldownOptions: { output } },
  })
}
