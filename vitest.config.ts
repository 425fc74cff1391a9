import { defineConfig } from 'vitest/config'

/** Too slow for every change, or disturbed by anything that runs beside it: fleets, kills, faults under load, old compilers. */
const WEEKLY = [
  'test/advisories/linear-patterns.test.ts',
  'test/simulation/simulation.test.ts',
  'test/system/{binary,fleet,image,kill,memory,redis-faults}.test.ts',
  'test/release/{bundles,jsr,release-files}.test.ts',
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
          exclude: [
            'test/{smoke,system,conformance,simulation,release,tools}/**',
            'test/advisories/linear-patterns.test.ts',
          ],
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
          exclude: WEEKLY,
          globalSetup: ['test/system/build.ts', 'test/release/install.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        // One after another, behind everything else.
        extends: true,
        test: {
          name: 'weekly',
          include: WEEKLY,
          globalSetup: ['test/system/build.ts', 'test/release/install.ts'],
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          testTimeout: 1_800_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
})
