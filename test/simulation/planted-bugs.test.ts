import { describe, expect, onTestFinished, test } from 'vitest'

import { run } from '../system/processes.ts'
import { CHANCE, PLANTS, plant } from './plants.ts'
import type { Plant } from './plants.ts'

/** Enough for each of the bugs; most show within a few seeds. */
const SEEDS = ['--seeds', '60', '--days', '8']

describe.concurrent('a planted bug is found', () => {
  test.each(PLANTS)('$name', async (bug) => {
    const { code, stderr } = await simulate(bug, SEEDS)
    expect(code, 'nothing was found').toBe(1)
    expect(bug.breaks).toContain(/^I\d+/.exec(stderr)?.[0])
    expect(stderr).toMatch(
      /seed \d+, day \d+ [\d:.]+.*npm run simulate -- --seed \d+ --days 8 .*--trace/,
    )
  })

  test('randomness of its own', async () => {
    const few = ['--seeds', '2', '--days', '3']
    const [one, other] = await Promise.all([simulate(CHANCE, few), simulate(CHANCE, few)])
    expect(digestOf(one.stdout)).not.toBe(digestOf(other.stdout))
  })
})

function simulate(bug: Plant, args: string[]): ReturnType<typeof run> {
  const { folder, remove } = plant(bug)
  onTestFinished(remove)
  const faults = bug.faults === undefined ? [] : ['--faults', bug.faults]
  const program = ['test/simulation/main.ts', '--source', folder, '--jobs', '1', ...faults]
  return run(process.execPath, [...program, ...args])
}

function digestOf(stdout: string): string | undefined {
  return /^digest (\w+)$/m.exec(stdout)?.[1]
}
