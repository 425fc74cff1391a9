import { expect, test } from 'vitest'

import { simulate } from './simulate.ts'

const DAYS = 5

test.each([1, 2, 3, 4, 5, 6])('finds no violation in five days of seed %i', async (seed) => {
  const { requests, upstreamCalls } = await simulate({ seed, days: DAYS })
  expect(requests).toBeGreaterThan(50 * DAYS)
  expect(upstreamCalls.latest).toBeGreaterThanOrEqual(DAYS)
})

test('produces the same run for the same seed, and another run for another seed', async () => {
  const digest = async (seed: number): Promise<string> => (await simulate({ seed, days: 2 })).digest
  expect(await digest(5)).toBe(await digest(5))
  expect(await digest(5)).not.toBe(await digest(6))
})
