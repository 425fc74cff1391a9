import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    reporters: ['default', './test/closing-line.ts'],
    projects: [
      {
        // Runs inside Node, Bun and Deno alike: Web APIs and node:fs only.
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/system/**'],
          setupFiles: ['test/no-network.ts'],
        },
      },
      {
        // Starts processes: the built command line, other runtimes, npm.
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          globalSetup: ['test/system/build.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/types.test-d.ts'],
            tsconfig: 'test/tsconfig.json',
          },
        },
      },
    ],
  },
})
