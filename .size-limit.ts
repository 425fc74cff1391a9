import type { BuildOptions } from 'esbuild'

import { ENTRY_POINTS } from './scripts/entry-points.ts'
import * as providers from './src/providers/index.ts'

type Plugin = NonNullable<BuildOptions['plugins']>[number]

/** Leaves out lazily loaded modules, which do not count at the start of an app, and Node's own modules. */
const atStart: Plugin = {
  name: 'at-start',
  setup(build) {
    build.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'dynamic-import' || path.startsWith('node:') ? { path, external: true } : undefined,
    )
  },
}

/** Bundles for an app that runs anywhere, as modules. */
function portable(options: BuildOptions): BuildOptions {
  const given = { format: 'esm', platform: 'neutral', target: 'es2022', logLevel: 'error' } as const
  return { ...options, ...given, plugins: [atStart] }
}

/** Budget of each module of the package alone, or of the largest in a folder: its current size and some two per cent. */
const BUDGETS: Record<string, string> = {
  '.': '58.3 kB',
  './access': '15.4 kB',
  './access/file': '3.3 kB',
  './access/redis': '3.5 kB',
  './bun': '2.25 kB',
  './client': '3.5 kB',
  './cloudflare': '297 B',
  './compat/fixer': '13.5 kB',
  './compat/frankfurter': '12 kB',
  './compat/open-exchange-rates': '11.5 kB',
  './currencies': '7.07 kB',
  './deno': '2.85 kB',
  './express': '2.3 kB',
  './mcp': '21.2 kB',
  './money': '2.67 kB',
  './monitoring': '13.1 kB',
  './next': '1.53 kB',
  './node': '3.7 kB',
  './providers': '47.9 kB',
  './quotes': '20.5 kB',
  './sql': '2.7 kB',
  './stores/*': '1.55 kB',
  './testing': '20.8 kB',
  './undici': '1.29 kB',
}

/** Returns the budget of an entry point: its own, or that of its folder. */
function budgetOf(subpath: string): string {
  const limit = BUDGETS[subpath] ?? BUDGETS[subpath.replace(/[^/]+$/, '*')]
  if (limit === undefined) throw new Error(`${subpath} has no budget`)
  return limit
}

const modules = ENTRY_POINTS.map(({ subpath, built }) => ({
  name: `all of ${subpath}`,
  path: built,
  import: '*',
  limit: budgetOf(subpath),
}))

const SUBPATHS = new Set(ENTRY_POINTS.map(({ subpath }) => subpath))

for (const subpath of Object.keys(BUDGETS)) {
  const isUsed = subpath.endsWith('/*') || SUBPATHS.has(subpath)
  if (!isUsed) throw new Error(`${subpath} has a budget and is not exported`)
}

/** Providers whose programs have a reader of XML. */
const READ_XML = new Set(
  ['Bnr', 'Cbr', 'Ecb', 'Folder', 'Mnb'].map((name) => `create${name}Provider`),
)

/** A program with one provider, which bundlers load without the others. */
const ofProviders = Object.keys(providers)
  .filter((name) => /^create\w+Provider$/.test(name))
  .map((name) => ({
    name: `${name} alone`,
    path: 'dist/providers.js',
    import: `{ ${name} }`,
    limit: READ_XML.has(name) ? '25.6 kB' : '21.3 kB',
  }))

/** Exports as an app loads them; those after the first without the handler. */
const alone = Object.entries({
  createRatesHandler: '56 kB',
  createRates: '47 kB',
  RatesError: '370 B',
  createMemoryStore: '700 B',
}).map(([name, limit]) => ({
  name: `${name} alone`,
  path: 'dist/index.js',
  import: `{ ${name} }`,
  limit,
}))

const page = {
  name: 'the explorer page',
  path: 'dist/explorer-page-*.js',
  disablePlugins: ['@size-limit/esbuild'],
  gzip: true,
  limit: '20 kB',
}

const secondScript = {
  ...page,
  name: 'the second script of the explorer',
  path: 'dist/explorer-api-*.js',
  limit: '11 kB',
}

/** Budgets for parts of the build with all dependencies, minified and gzipped. */
export default [
  ...[...alone, ...modules, ...ofProviders].map((part) => ({
    ...part,
    modifyEsbuildConfig: portable,
    gzip: true,
  })),
  page,
  secondScript,
]
