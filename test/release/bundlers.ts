import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { build as runEsbuild } from 'esbuild'
import { rollup } from 'rollup'
import type { Plugin, RollupLog } from 'rollup'
import { build as runVite } from 'vite'
import type { BuildEnvironmentOptions } from 'vite'

/** Bundles the module at the path `entry` into the folder `out`; resolves with the path of what is to be imported. */
export type Bundler = (entry: string, out: string) => Promise<string>

/** For Node, with everything in one file. */
export const byEsbuild: Bundler = async (entry, out) => {
  const outfile = join(out, 'bundle.js')
  const options = { format: 'esm', platform: 'node', logLevel: 'error' } as const
  await runEsbuild({ ...options, entryPoints: [entry], outfile, bundle: true })
  return outfile
}

/** For a Worker, in one file; what is Node's is asked of workerd. */
export const byEsbuildForWorkers: Bundler = async (entry, out) => {
  const outfile = join(out, 'worker.js')
  const conditions = ['workerd', 'worker', 'browser']
  const options = { format: 'esm', platform: 'browser', logLevel: 'error' } as const
  const given = { ...options, conditions, external: ['node:*'] }
  await runEsbuild({ ...given, entryPoints: [entry], outfile, bundle: true })
  return outfile
}

/** Finds the package, and heeds that it says so of its side effects; what it depends on, and what is Node's, stays outside. */
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

/** With the package in it and nothing else, in parts. */
export const byRollup: Bundler = async (entry, out) => {
  const plugins = [installedPackage]
  const onwarn = ({ code, message }: RollupLog): void => {
    if (code !== 'EMPTY_BUNDLE') throw new Error(message)
  }
  const bundle = await rollup({ input: entry, plugins, onwarn })
  await bundle.write({ dir: out, entryFileNames: 'bundle.js' })
  return join(out, 'bundle.js')
}

/** For a server, with everything in it. */
export const byViteForServers: Bundler = async (entry, out) => {
  await vite(entry, { ssr: entry, outDir: out })
  return join(out, 'bundle.js')
}

/** A library for browsers. */
export const byViteAsLibrary: Bundler = async (entry, out) => {
  await vite(entry, { lib: { entry, formats: ['es'] }, outDir: out })
  return join(out, 'bundle.js')
}

/** The app whose page lies beside `entry`. */
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
