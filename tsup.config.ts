import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'

import { defineConfig } from 'tsup'
import type { Options } from 'tsup'

import { ENTRY_POINTS } from './scripts/entry-points.ts'

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number]

const shared = {
  format: ['esm'],
  // tsc emits the declarations: tsup's own emit needs a compiler interface that TypeScript 7 lacks.
  dts: false,
  splitting: true,
  // The two builds run at the same time, so earlier output is removed before both.
  clean: false,
  target: 'es2022',
  platform: 'neutral',
  // Some Node modules have no other name, and Deno requires the prefix.
  removeNodeProtocol: false,
  external: [/^node:/, /^[^./]/],
} satisfies Options

/** Returns the name of an entry from the path of its file in `dist`. */
const nameOf = (built: string): string => built.replace(/^\.\/dist\/(.*)\.js$/, '$1')

/** For `ratesmith/openapi.json` and the command; the handler has it as a module, which every bundler can read. */
const DOCUMENT = 'src/generated/openapi.json'

/**
 * The packages that are bundled into what needs them, the parts that are used: a hundred small files would take most of the
 * start of an app.
 */
const BUNDLED = ['@rgrove/parse-xml', 'fflate', 'ipaddr.js', 'itty-router', 'zod']

const noExternal = BUNDLED.map((name) => new RegExp(`^${name}(/|$)`))

/** Makes a CommonJS package one that bundlers drop where nothing uses it, though it shares a file with what is used. */
function droppable(name: string): EsbuildPlugin {
  const file = createRequire(import.meta.url).resolve(name)
  const source = readFileSync(file, 'utf8')
  const contents = `export default /* @__PURE__ */ (() => { const module = { exports: {} }; ${source}; return module.exports })()`
  return {
    name: `droppable-${name}`,
    setup(build) {
      build.onLoad({ filter: /ipaddr\.js$/ }, ({ path }) =>
        path === file ? { contents } : undefined,
      )
    },
  }
}

/** The entry points for apps. */
const library: Options = {
  ...shared,
  name: 'library',
  entry: {
    ...Object.fromEntries(ENTRY_POINTS.map(({ built, source }) => [nameOf(built), source])),
    // A file apart from the index: a bundler keeps all schemas of a file of which it needs one name, such as `RatesError`.
    handler: 'src/handler.ts',
  },
  noExternal,
  esbuildPlugins: [droppable('ipaddr.js')],
  async onSuccess() {
    cpSync(DOCUMENT, 'dist/generated/openapi.json')
    // Licences must accompany the bundled parts, which the command has too.
    const licences = BUNDLED.map(
      (name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`,
    )
    writeFileSync('dist/LICENSES.txt', licences.join('\n'))
  },
}

/** The command line. */
const command: Options = {
  ...shared,
  name: 'command',
  entry: { cli: 'src/cli/main.ts' },
  external: [...shared.external, /\/generated\/openapi\.json$/],
  noExternal: [...noExternal, /^ratesmith\/package\.json$/],
  esbuildPlugins: [serverInOneChunk()],
  esbuildOptions(options) {
    options.chunkNames = 'cli/[name]-[hash]'
    // Keeps the hashes independent of the real location of the packages.
    options.preserveSymlinks = true
    // Names stay readable in stack traces.
    options.minifyWhitespace = true
    options.minifySyntax = true
    // Node and Deno import JSON only with its type, which esbuild drops for the target.
    options.supported = { ...options.supported, 'import-attributes': true }
  },
}

/**
 * Adds to every module that the command loads on demand a reference to the server. All that the server needs is then in one
 * chunk, instead of one for each combination of such modules: 5 files instead of 60, which saves a fifth of the time to the
 * end of `convert --demo` and to the first response of `serve --demo`.
 */
function serverInOneChunk(): EsbuildPlugin {
  const server = './src/cli/serve.ts'
  // Data import nothing, and the first module decides about the others.
  const apart = /\/(commands\.ts|generated\/.*)$/
  return {
    name: 'server-in-one-chunk',
    setup(build) {
      build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ kind, path, resolveDir }) =>
        kind === 'dynamic-import' && !apart.test(path)
          ? { path: relative('.', join(resolveDir, path)), namespace: 'on-demand' }
          : undefined,
      )
      build.onLoad({ filter: /./, namespace: 'on-demand' }, ({ path }) => ({
        contents: `export * from './${path}'\nexport * as server from '${server}'`,
        resolveDir: '.',
      }))
    },
  }
}

export default defineConfig([library, command])
