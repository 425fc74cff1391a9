import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { withRates } from '../../scripts/usual-rates.ts'
import { createRatesHandler } from '../../src/index.ts'
import { moveFromUsual } from '../../src/rates/moves.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

const FILE = 'src/rates/moves.ts'

it('usual rates are those that the script makes of a table', async () => {
  const now = (): number => Date.parse('2026-11-26T12:00Z')
  const handler = createRatesHandler({ providers: fakeProviders({ now }), now })
  const response = await handler(new Request('http://localhost/api/v1/latest'))
  const source = readFileSync(FILE, 'utf8')
  const older = source
    .replace(/(?<=const rows = \[)[^]*?(?=\])/, '')
    .replace('2026-11-25', '2020-01-01')
  expect(withRates(older, await response.text())).toBe(source)
  expect(() => withRates(source, '{"base":"EUR"}')).toThrow('the base must be USD, got EUR')
})

it.skipIf(!HAS_RECORDINGS)(
  `usual rates are near those of a recorded feed ${NEEDS_RECORDINGS}`,
  () => {
    const file = recording('data/open-er-api/v6-latest-CZK-2026-02-18.raw.json')
    const { rates }: { rates: Record<string, number> } = JSON.parse(readFileSync(file, 'utf8'))
    const moves = Object.entries(rates).map(
      ([code, rate]) => [code, moveFromUsual({ base: 'CZK', code, rate }, '2026-02-18')] as const,
    )
    const unknown = moves.filter(([, move]) => Number.isNaN(move)).map(([code]) => code)
    expect(unknown).toEqual(['ANG', 'BGN', 'HRK', 'SLL', 'ZWL'])
    expect(moves.filter(([, move]) => move > 4)).toEqual([])
  },
)
