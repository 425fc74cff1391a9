import { expect, test } from 'vitest'

import { simulate } from './simulate.ts'

/** Generous: six seeds take some seconds. In ms. */
const TIMEOUT = 300_000

test.each([1, 2, 3, 4, 5, 6])(
  'it finds nothing wrong in ten days of seed %i',
  { timeout: TIMEOUT },
  async (seed) => {
    const { requests, upstreamCalls } = await simulate({ seed, days: 10 })
    expect(requests).toBeGreaterThan(500)
    expect(upstreamCalls.latest).toBeGreaterThanOrEqual(10)
  },
)

test('it takes the same course with the same seed, and another with another', async () => {
  const digest = async (seed: number): Promise<string> => (await simulate({ seed, days: 3 })).digest
  expect(await digest(2)).toBe(await digest(2))
  expect(await digest(2)).not.toBe(await digest(3))
})
