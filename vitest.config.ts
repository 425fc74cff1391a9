import { defineConfig } from 'vitest/config'

/** What must not be starved: fleets, kills, memory, clients that do not read, faults under load. */
const PROOFS = ['test/system/{fleet,kill,memory,overload,pipelining,redis-faults}.test.ts']

/** More of the same as what runs before a change lands, and too slow for that. */
const WEEKLY = [
  'test/simulation/simulation.test.ts',
  'test/release/{bundles,frameworks,jsr,release-files}.test.ts',
  'test/release/documentation/run.test.ts',
]

export default defineConfig({
  test: {
    reporters: ['default', './test/closing-line.ts'],
    // By default a core is left free, which is half of a machine with two.
    maxWorkers: '100%',
    // For a machine that is busy with other things.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        // Runs inside Node, Bun and Deno alike: Web APIs and node:fs only.
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{smoke,system,conformance,simulation,release,tools,apps}/**'],
          setupFiles: ['test/no-network.ts'],
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
      {
        // From source, without a build: each host that is installed, the command line, a few simulated days.
        extends: true,
        test: {
          name: 'smoke',
          include: ['test/smoke/**/*.test.ts', 'test/simulation/{few-seeds,planted-bugs}.test.ts'],
        },
      },
      {
        // Starts processes: the built command line, other runtimes, browsers, the package as users install it.
        extends: true,
        test: {
          name: 'system',
          include: ['test/{system,conformance,release}/**/*.test.ts'],
          exclude: [...PROOFS, ...WEEKLY],
          globalSetup: ['test/system/build.ts', 'test/release/install.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        // One after another, after everything else.
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
        extends: true,
        test: {
          name: 'weekly',
          include: WEEKLY,
          globalSetup: ['test/system/build.ts', 'test/release/install.ts'],
          sequence: { groupOrder: 3 },
          testTimeout: 1_800_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
})
