import { defineConfig } from 'vitest/config'

/** What takes all of the machine, or must not be starved on it. */
const PROOFS = [
  'test/simulation/simulation.test.ts',
  'test/system/{fleet,kill,memory,redis-faults}.test.ts',
]

export default defineConfig({
  test: {
    reporters: ['default', './test/closing-line.ts'],
    // By default vitest leaves a core free, which is half of a machine with two.
    maxWorkers: '100%',
    // Long enough for a machine that does other things besides.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        // Runs inside Node, Bun and Deno alike: Web APIs and node:fs only.
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{smoke,system,conformance,simulation,release}/**'],
          setupFiles: ['test/no-network.ts'],
          // No test changes what others see: loading everything once saves half of the time.
          isolate: false,
        },
      },
      {
        // A few processes from source, and a few simulated days: what every change can break besides.
        extends: true,
        test: {
          name: 'smoke',
          include: ['test/smoke/**/*.test.ts', 'test/simulation/{few-seeds,planted-bugs}.test.ts'],
        },
      },
      {
        // Starts processes: the built command line, other runtimes, npm.
        extends: true,
        test: {
          name: 'system',
          include: ['test/{system,conformance}/**/*.test.ts'],
          exclude: PROOFS,
          globalSetup: ['test/system/build.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        // One after another, behind everything else: fleets, faults under load, kills, simulations.
        extends: true,
        test: {
          name: 'proofs',
          include: PROOFS,
          globalSetup: ['test/system/build.ts'],
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          testTimeout: 900_000,
          hookTimeout: 240_000,
        },
      },
      {
        // The package as users install it: other compilers and bundlers, every page of the documentation.
        extends: true,
        test: {
          name: 'release',
          include: ['test/release/**/*.test.ts'],
          globalSetup: ['test/system/build.ts', 'test/release/install.ts'],
          sequence: { groupOrder: 3 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/*.test-d.ts'],
            tsconfig: 'test/tsconfig.types.json',
          },
        },
      },
    ],
  },
})
