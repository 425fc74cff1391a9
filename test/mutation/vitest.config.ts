import { defineConfig } from 'vitest/config'

/** The tests of one room, which its run names in the environment; mutants that are made once meet all of them. */
export default defineConfig({
  test: {
    include: process.env['MUTATION_TESTS']?.split('\n') ?? [],
    setupFiles: ['test/no-network.ts', 'test/mutation/few-runs.ts'],
  },
})
