import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

import { defineConfig } from 'tsup'
import type { Options } from 'tsup'

const shared: Options = {
  format: ['esm'],
  // The declarations come from tsc: tsup's own need a compiler interface that TypeScript 7 lacks.
  dts: false,
  sourcemap: true,
  splitting: true,
  // The two builds run at the same time: what was there before is removed before both.
  clean: false,
  target: 'es2022',
  platform: 'neutral',
  // Some modules of Node have no other name, and Deno knows none without it.
  removeNodeProtocol: false,
}

/**
 * Parts of the index that get files to themselves: a bundler leaves out a file of which nothing is used, but not the schemas in
 * one of which something is.
 */
const INNER = ['handler', 'providers/exchange-rate-api', 'providers/frankfurter']

/** What an app imports: what it depends on stays outside, to be one with what the app itself has of it. */
const library: Options = {
  ...shared,
  name: 'library',
  entry: {
    index: 'src/index.ts',
    ...Object.fromEntries(INNER.map((name) => [name, `src/${name}.ts`])),
    client: 'src/client/index.ts',
    'compat/exchange-rate-api': 'src/compat/exchange-rate-api.ts',
    'compat/exchangerate-host': 'src/compat/exchangerate-host.ts',
    'compat/frankfurter': 'src/compat/frankfurter.ts',
    'compat/frankfurter-v2': 'src/compat/frankfurter-v2.ts',
    'compat/open-exchange-rates': 'src/compat/open-exchange-rates.ts',
    currencies: 'src/currencies.ts',
    testing: 'src/testing/index.ts',
    'providers/cross-check': 'src/providers/cross-check.ts',
    'providers/currencyapi': 'src/providers/currencyapi.ts',
    'providers/ecb': 'src/providers/ecb.ts',
    'providers/exchange-rate-api-v6': 'src/providers/exchange-rate-api-v6.ts',
    'providers/fawazahmed0': 'src/providers/fawazahmed0.ts',
    'providers/frankfurter-v2': 'src/providers/frankfurter-v2.ts',
    'providers/open-exchange-rates': 'src/providers/open-exchange-rates.ts',
    'stores/cache-api': 'src/stores/cache-api.ts',
    'stores/cloudflare-kv': 'src/stores/cloudflare-kv.ts',
    'stores/file': 'src/stores/file.ts',
    'stores/memory': 'src/stores/memory.ts',
    'stores/redis': 'src/stores/redis.ts',
    'stores/sqlite': 'src/stores/sqlite.ts',
    'stores/upstash': 'src/stores/upstash.ts',
    bun: 'adapters/bun.ts',
    cloudflare: 'adapters/cloudflare.ts',
    deno: 'adapters/deno.ts',
    express: 'adapters/express.ts',
    node: 'adapters/node.ts',
  },
  external: [/^node:/, /^[^./]/],
  // As it is, beside the copy that the handler answers with.
  async onSuccess() {
    copyFileSync('src/generated/openapi.json', 'dist/openapi.json')
    // The chunks have their code.
    for (const name of INNER) {
      for (const end of ['js', 'js.map']) rmSync(`dist/${name}.${end}`)
    }
  },
}

/** What is built into the command. */
const BUILT_IN = ['itty-router', 'zod']

/** The command line: with what it needs in itself, as a hundred small files take longer to load than one. */
const command: Options = {
  ...shared,
  name: 'command',
  entry: { cli: 'src/cli/main.ts' },
  // It would be five times as large as what it is for, most of it of other packages.
  sourcemap: false,
  noExternal: BUILT_IN.map((name) => new RegExp(`^${name}(/|$)`)),
  external: [/^node:/, /^[^./]/],
  esbuildOptions(options) {
    options.chunkNames = 'cli/[name]-[hash]'
    // The hashes are to be the same wherever the packages really are.
    options.preserveSymlinks = true
    // Names stay as they are, for whoever reads a stack.
    options.minifyWhitespace = true
    options.minifySyntax = true
    // Newer than the target, but every runtime has them and asks for them: the manifest stays a file of its own.
    options.supported = { 'import-attributes': true }
  },
  // Their licences ask to go where parts of them go.
  async onSuccess() {
    const licences = BUILT_IN.map((name) => {
      return `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`
    })
    writeFileSync('dist/cli/LICENSES.txt', licences.join('\n'))
  },
}

export default defineConfig([library, command])
