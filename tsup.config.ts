import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { defineConfig } from 'tsup'
import type { Options } from 'tsup'

import { ENTRY_POINTS } from './scripts/entry-points.ts'

/**
 * Modules that the handler or a command loads on demand. In a bundle each refers to the handler, so that they share with it one
 * chunk: otherwise the handler would be split into a chunk for every combination of modules that load a part of it.
 */
const ON_DEMAND =
  /src.((api|endpoints|http|sources).(body|convert-many|currencies|history-list|publications|rounded)|cli.(withdrawn|words))\.ts$/

const handlerInOneChunk: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'handler-in-one-chunk',
  setup(build) {
    build.onLoad({ filter: ON_DEMAND }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\nexport { createHandlerOn } from '../handler.ts'`,
      loader: 'ts',
    }))
  },
}

/**
 * Modules that `ratesmith serve` loads on demand. In the command each refers to the server, for the same reason: a start
 * without their flags would otherwise load a file for every combination.
 */
const ON_DEMAND_IN_SERVE =
  /src.(cli.(access|counters|index-page|monitoring)|access.(redis|redis-usage|sqlite|sqlite-usage))\.ts$/

const SERVE = fileURLToPath(new URL('src/cli/serve.ts', import.meta.url))

const serverInOneChunk: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'server-in-one-chunk',
  setup(build) {
    build.onLoad({ filter: ON_DEMAND_IN_SERVE }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\nexport { serveAndExit } from ${JSON.stringify(SERVE)}`,
      loader: 'ts',
    }))
  },
}

const shared: Options = {
  format: ['esm'],
  // tsc emits the declarations: tsup's own emit needs a compiler interface that TypeScript 7 lacks.
  dts: false,
  sourcemap: true,
  splitting: true,
  // The two builds run at the same time, so earlier output is removed before both.
  clean: false,
  target: 'es2022',
  platform: 'neutral',
  // Some Node modules have no other name, and Deno requires the prefix.
  removeNodeProtocol: false,
  esbuildPlugins: [handlerInOneChunk],
}

/**
 * Parts of the index with separate files: a bundler drops a file that is not used at all, but keeps all schemas of a
 * file of which one is used.
 */
const INNER = ['handler', 'providers/exchange-rate-api', 'providers/frankfurter']

/** Returns the name of an entry from the path of its file in `dist`. */
const nameOf = (built: string): string => built.replace(/^\.\/dist\/(.*)\.js$/, '$1')

/** The entry points for apps. Dependencies stay external, so that an app has a single copy of each. */
const library: Options = {
  ...shared,
  name: 'library',
  entry: {
    ...Object.fromEntries(ENTRY_POINTS.map(({ built, source }) => [nameOf(built), source])),
    ...Object.fromEntries(INNER.map((name) => [name, `src/${name}.ts`])),
  },
  external: [/^node:/, /^[^./]/],
  // Copies the document unchanged, in addition to the copy in the handler.
  async onSuccess() {
    copyFileSync('src/generated/openapi.json', 'dist/openapi.json')
    // Removes the entry files, whose code is in chunks.
    for (const name of INNER) {
      for (const end of ['js', 'js.map']) rmSync(`dist/${name}.${end}`)
    }
  },
}

/** The dependencies that are bundled into the command. */
const BUILT_IN = ['itty-router', 'zod']

/** The command line, with its dependencies bundled: a hundred small files load more slowly than one. */
const command: Options = {
  ...shared,
  name: 'command',
  entry: { cli: 'src/cli/main.ts' },
  esbuildPlugins: [
    handlerInOneChunk,
    serverInOneChunk,
    {
      name: 'providers',
      setup(build) {
        build.onLoad({ filter: /provider-modules\.ts$/ }, () => ({ contents: providerModules() }))
      },
    },
  ],
  // A source map would be five times as large as the command, and mostly describe other packages.
  sourcemap: false,
  noExternal: BUILT_IN.map((name) => new RegExp(`^${name}(/|$)`)),
  external: [/^node:/, /^[^./]/],
  esbuildOptions(options) {
    options.chunkNames = 'cli/[name]-[hash]'
    // Keeps the hashes independent of the real location of the packages.
    options.preserveSymlinks = true
    // Names stay readable in stack traces.
    options.minifyWhitespace = true
    options.minifySyntax = true
    // Newer than the target, but supported and required by every runtime: the manifest stays a separate file.
    options.supported = { 'import-attributes': true }
  },
  // Their licences must accompany the bundled parts.
  async onSuccess() {
    const licences = BUILT_IN.map((name) => {
      return `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`
    })
    writeFileSync('dist/cli/LICENSES.txt', licences.join('\n'))
  },
}

/** Returns `src/cli/provider-modules.ts` for a bundle: an import by an expression would load a helper with every command. */
function providerModules(): string {
  const modules = readdirSync('src/providers')
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `['${file.slice(0, -'.ts'.length)}', () => import('../providers/${file}')]`)
  return `export const MODULES = new Map([${modules.join(',')}])`
}

export default defineConfig([library, command])
