import { expect, test } from 'vitest'

import { simulate } from './simulate.ts'

/** Time limit in ms. Six seeds take a few seconds. */
const TIMEOUT = 300_000

test.each([1, 2, 3, 4, 5, 6])(
  'finds no violation in ten days of seed %i',
  { timeout: TIMEOUT },
  async (seed) => {
    const { requests, upstreamCalls } = await simulate({ seed, days: 10 })
    expect(requests).toBeGreaterThan(500)
    expect(upstreamCalls.latest).toBeGreaterThanOrEqual(10)
  },
)

test('produces the same run for the same seed, and another run for another seed', async () => {
  const digest = async (seed: number): Promise<string> => (await simulate({ seed, days: 3 })).digest
  expect(await digest(2)).toBe(await digest(2))
  expect(await digest(2)).not.toBe(await digest(3))
})
