import { defineConfig } from 'vitest/config'

/** What takes all of the machine, or must not be starved on it. */
const PROOFS = [
  'test/simulation/**/*.test.ts',
  'test/system/{fleet,kill,memory,redis-faults}.test.ts',
]

export default defineConfig({
  test: {
    reporters: ['default', './test/closing-line.ts'],
    projects: [
      {
        // Runs inside Node, Bun and Deno alike: Web APIs and node:fs only.
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{system,conformance,simulation,release}/**'],
          setupFiles: ['test/no-network.ts'],
        },
      },
      {
        // Starts processes: the built command line, other runtimes, npm.
        test: {
          name: 'system',
          include: ['test/{system,conformance}/**/*.test.ts'],
          exclude: PROOFS,
          globalSetup: ['test/system/build.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // One after another, behind everything else: fleets, faults under load, kills, simulations.
        test: {
          name: 'proofs',
          include: PROOFS,
          globalSetup: ['test/system/build.ts'],
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          testTimeout: 900_000,
          hookTimeout: 120_000,
        },
      },
      {
        // What a release is held to besides: `npm run check:release` asks for it.
        test: {
          name: 'release',
          include: ['test/release/**/*.test.ts'],
          globalSetup: ['test/system/build.ts', 'test/release/install.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/*.test-d.ts'],
            tsconfig: 'test/tsconfig.json',
          },
        },
      },
    ],
  },
})
