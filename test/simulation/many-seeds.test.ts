import { expect, test } from 'vitest'

import { run } from '../system/processes.ts'
import { ROOT } from '../system/runtimes.ts'

const TIMEOUT = 45 * 60_000

/** A seed takes some three seconds of one core. The weekly workflow and a release run 500. */
test('finds no violation in 17 seeds of 30 days', { timeout: TIMEOUT }, async () => {
  const args = ['test/simulation/main.ts', '--seeds', '17', '--days', '30']
  const { code, stderr } = await run(process.execPath, args, { cwd: ROOT })
  expect(stderr).toBe('')
  expect(code).toBe(0)
})
