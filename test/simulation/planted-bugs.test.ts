import { expect, test } from 'vitest'

import { CHANCE, PLANTED_BUGS, findBug } from './planted-bugs.ts'
import { simulate } from './simulate.ts'

/** Generous: the slowest takes a second. In ms. */
const TIMEOUT = 120_000

test.each(Object.entries(PLANTED_BUGS))(
  'it finds that %s',
  { timeout: TIMEOUT },
  async (_, bug) => {
    const found = await findBug(bug)
    expect(found).toMatchObject({ invariant: bug.breaks })
    expect(found?.message).toMatch(
      /seed \d+, day \d+ [\d:.]+.*npm run simulate -- --seed \d+ --days \d+ .*--trace/,
    )
  },
)

test('it sees by the digest that a run is not repeated where randomness is not that of its seed', async () => {
  const digest = async (): Promise<string> =>
    (await simulate({ seed: 2, days: 3, plant: CHANCE })).digest
  expect(await digest()).not.toBe(await digest())
})

test('every invariant is broken by a planted bug', () => {
  const broken = new Set(['I16', ...Object.values(PLANTED_BUGS).map(({ breaks }) => breaks)])
  expect(broken).toEqual(new Set(Array.from({ length: 16 }, (_, index) => `I${index + 1}`)))
})
