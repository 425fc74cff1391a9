import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    currencies: 'src/currencies.ts',
    testing: 'src/testing/index.ts',
    'stores/cache-api': 'src/stores/cache-api.ts',
    'stores/cloudflare-kv': 'src/stores/cloudflare-kv.ts',
    'stores/file': 'src/stores/file.ts',
    'stores/memory': 'src/stores/memory.ts',
    'stores/redis': 'src/stores/redis.ts',
    'stores/sqlite': 'src/stores/sqlite.ts',
    'stores/upstash': 'src/stores/upstash.ts',
    cli: 'src/cli/main.ts',
    bun: 'adapters/bun.ts',
    cloudflare: 'adapters/cloudflare.ts',
    deno: 'adapters/deno.ts',
    express: 'adapters/express.ts',
    node: 'adapters/node.ts',
  },
  format: ['esm'],
  // The declarations come from tsc: tsup's own need a compiler interface that TypeScript 7 lacks.
  dts: false,
  sourcemap: true,
  splitting: true,
  clean: true,
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/, /^[^./]/],
  // Some modules of Node have no other name, and Deno knows none without it.
  removeNodeProtocol: false,
  esbuildOptions(options) {
    // Newer than the target, but every runtime has them and asks for them: the manifest stays a file of its own.
    options.supported = { 'import-attributes': true }
  },
})
