import { defineConfig } from 'vitest/config'

/** Tests that need an idle machine: fleets, kills, memory, clients that do not read, faults under load. */
const PROOFS = [
  'test/system/{fleet,kill,memory,overload,pipelining,redis-faults,streams,unread}.test.ts',
]

/**
 * Unit tests of a kind of mistake in all areas, which are slow, and which no change of one area alone breaks; and those that need
 * `npm run tools`. They run before a merge.
 */
const LANDING = [
  'test/advisories/{doubtful-rates,linear-time,upstream-secrets}.test.ts',
  'test/access/model.test.ts',
  'test/catalogue/upstream-faults.test.ts',
  'test/cli/{doors,export-faults}.test.ts',
  'test/providers/{bank-days,keys,odd-responses}.test.ts',
  'test/quotes/jose.test.ts',
  'test/simulation/{many-seeds,planted-bugs}.test.ts',
  'test/sql/{kills,pglite}.test.ts',
  'test/stores/{damage,keyv,unstorage}.test.ts',
]

/** Longer variants of the tests before a merge, too slow to run there. */
const WEEKLY = [
  'test/sources/year-of-banks.test.ts',
  'test/simulation/simulation.test.ts',
  'test/release/{bundles,frameworks,jsr,release-files,site}.test.ts',
  'test/release/documentation/run.test.ts',
]

export default defineConfig({
  test: {
    reporters: ['default', './test/closing-line.ts'],
    // By default Vitest leaves one core free, which is half of a machine with two.
    maxWorkers: '100%',
    // Generous, for a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        // Runs in Node, Bun and Deno: Web APIs and node:fs only.
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/{smoke,system,conformance,simulation,release,golden,lint,tools,apps}/**',
            ...LANDING,
            ...WEEKLY,
          ],
          setupFiles: ['test/no-network.ts'],
          // The modules under test have no state: files of one worker share them, which takes a third less time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'landing',
          include: LANDING,
          setupFiles: ['test/no-network.ts'],
          isolate: false,
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
        // Runs from source, without a build: each installed host, the command line, a few simulated days.
        extends: true,
        test: {
          name: 'smoke',
          include: ['test/smoke/**/*.test.ts', 'test/simulation/few-seeds.test.ts'],
        },
      },
      {
        // Starts processes: the built command line, other runtimes, browsers, the package as users install it.
        extends: true,
        test: {
          name: 'system',
          include: ['test/{system,conformance,release,golden}/**/*.test.ts'],
          exclude: [...PROOFS, ...WEEKLY],
          globalSetup: ['test/system/build.ts', 'test/release/install.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        // Runs alone, after everything else.
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
