import { defineConfig } from 'vitest/config'

/** The tests of one mutation run, which `main.ts` passes in the environment. */
const TESTS = process.env['MUTATION_TESTS']?.split('\n') ?? []

/** System tests connect to local servers; a mutant of another test could reach a real upstream. */
const isSystem = TESTS.some((path) => path.startsWith('test/system/'))

export default defineConfig({
  test: {
    include: TESTS,
    // Stryker has its own time limit.
    testTimeout: 60_000,
    setupFiles: [...(isSystem ? [] : ['test/no-network.ts']), 'test/mutation/few-runs.ts'],
  },
})
