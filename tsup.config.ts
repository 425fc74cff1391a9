import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    currencies: 'src/currencies.ts',
    testing: 'src/testing/index.ts',
    cli: 'src/cli/main.ts',
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
})
