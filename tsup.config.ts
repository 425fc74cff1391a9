import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { defineConfig } from 'tsup'
import type { Options } from 'tsup'

import { ENTRY_POINTS } from './scripts/entry-points.ts'

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * Modules that the handler or a command loads on demand. In a bundle each refers to the handler, so that they share with it one
 * chunk: otherwise the handler would be split into a chunk for every combination of modules that load a part of it.
 */
const ON_DEMAND =
  /src.((api|endpoints|http|sources).(body|convert-many|currencies|history-list|publications|rounded)|cli.(withdrawn|words))\.ts$/

const handlerInOneChunk: EsbuildPlugin = {
  name: 'handler-in-one-chunk',
  setup(build) {
    build.onLoad({ filter: ON_DEMAND }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\nexport { createHandlerOn } from '../handler.ts'`,
      loader: 'ts',
    }))
  },
}

const SERVE = fileURLToPath(new URL('src/cli/serve.ts', import.meta.url))

/**
 * In the command, every module that is loaded on demand refers to the server, for the same reason: all that the server needs
 * is in one file, and a command loads that and its own. Most of them need most of it. The server refers to the manifest, which
 * is so in one file with the parts of the first module that others share.
 */
const serverInOneChunk: EsbuildPlugin = {
  name: 'server-in-one-chunk',
  setup(build) {
    const onDemand = modulesOnDemand()
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!onDemand.has(path)) return undefined
      const reference =
        path === SERVE
          ? `export { default as manifest } from 'ratesmith/package.json' with { type: 'json' }`
          : `export { manifest, serveAndExit } from ${JSON.stringify(SERVE)}`
      return { contents: `${readFileSync(path, 'utf8')}\n${reference}`, loader: 'ts' }
    })
  },
}

/** The first module on demand, which decides about the others; and data, whose modules import nothing. */
const APART = /src.(cli.commands\.ts|generated.[\w-]+\.ts)$/

/** Returns the paths of the modules that others import on demand, and those of the providers. */
function modulesOnDemand(): Set<string> {
  const found = new Set<string>()
  for (const folder of ['src', 'adapters']) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = fileURLToPath(new URL(`${folder}/${name}`, import.meta.url))
      if (!path.endsWith('.ts')) continue
      if (/src.providers.[\w-]+\.ts$/.test(path)) found.add(path)
      const text = readFileSync(path, 'utf8')
      for (const [, target = ''] of text.matchAll(/\bimport\('(\.[^']+\.ts)'\)/g)) {
        found.add(fileURLToPath(new URL(target, pathToFileURL(path))))
      }
    }
  }
  return new Set([...found].filter((path) => !APART.test(path)))
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

/** Modules that are replaced in the command. */
const MANIFEST = /^ratesmith\/package\.json$/
const FS = /^node:fs$/
const UTIL = /^node:util$/

/** The used exports of `node:fs`. */
const FS_EXPORTS = [
  'accessSync',
  'closeSync',
  'constants',
  'existsSync',
  'mkdirSync',
  'mkdtempSync',
  'openSync',
  'readFileSync',
  'rmSync',
  'statSync',
]

/** The used exports of `node:util`. */
const UTIL_EXPORTS = ['parseArgs', 'promisify', 'styleText']

/** The command line, with its dependencies bundled: a hundred small files load more slowly than one. */
const command: Options = {
  ...shared,
  name: 'command',
  entry: { cli: 'src/cli/main.ts' },
  esbuildPlugins: [
    serverInOneChunk,
    replaced('providers', /provider-modules\.ts$/, providerModules),
    replaced('manifest', MANIFEST, versionModule),
    replaced('fs', FS, () => exportsOf('node:fs', FS_EXPORTS)),
    replaced('util', UTIL, () => exportsOf('node:util', UTIL_EXPORTS)),
  ],
  // A source map would be five times as large as the command, and mostly describe other packages.
  sourcemap: false,
  noExternal: [...BUILT_IN.map((name) => new RegExp(`^${name}(/|$)`)), MANIFEST, FS, UTIL],
  external: [/^node:/, /^[^./]/],
  esbuildOptions(options) {
    options.chunkNames = 'cli/[name]-[hash]'
    // Keeps the hashes independent of the real location of the packages.
    options.preserveSymlinks = true
    // Names stay readable in stack traces.
    options.minifyWhitespace = true
    options.minifySyntax = true
  },
  // Their licences must accompany the bundled parts.
  async onSuccess() {
    const licences = BUILT_IN.map((name) => {
      return `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`
    })
    writeFileSync('dist/cli/LICENSES.txt', licences.join('\n'))
  },
}

/** Creates a plugin that replaces the module that is imported by a name; the relative imports of `contents` start in `src/cli`. */
function replaced(name: string, filter: RegExp, contents: () => string): EsbuildPlugin {
  const resolveDir = fileURLToPath(new URL('src/cli', import.meta.url))
  return {
    name,
    setup(build) {
      build.onResolve({ filter }, ({ path }) => ({ path, namespace: name }))
      build.onLoad({ filter: /./, namespace: name }, () => ({ contents: contents(), resolveDir }))
    },
  }
}

/** Returns the used part of package.json: to find, read and parse the file takes some ms. */
function versionModule(): string {
  const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'))
  return `export default ${JSON.stringify({ version })}`
}

/** Returns exports of a module of Node: an import would evaluate all, which loads Node's workers, and its streams for files. */
function exportsOf(name: string, names: readonly string[]): string {
  return `export const { ${names.join(', ')} } = process.getBuiltinModule('${name}')`
}

/** Returns `src/cli/provider-modules.ts` for a bundle: an import by an expression would load a helper with every command. */
function providerModules(): string {
  const modules = readdirSync('src/providers')
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `['${file.slice(0, -'.ts'.length)}', () => import('../providers/${file}')]`)
  return `export const MODULES = new Map([${modules.join(',')}])`
}

export default defineConfig([library, command])
