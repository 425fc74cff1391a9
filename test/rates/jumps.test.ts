import { expect, it } from 'vitest'

import { acceptHistory } from '../../src/rates/accept.ts'
import { findJumps } from '../../src/rates/jumps.ts'

const rows: [string, Record<string, number>][] = [
  ['2026-11-16', { USD: 1.1, TRY: 45, JPY: 180 }],
  ['2026-11-17', { USD: 1.1, TRY: 450.1, JPY: 18 }],
  ['2026-11-18', { USD: 11 }],
  ['2026-11-19', { USD: 1.2, TRY: 450, JPY: 181 }],
  ['2026-11-20', { USD: 0.11, TRY: 45.1, JPY: 181 }],
]
const days = rows.map(([date, rates]) => ({ date, rates }))
const history = acceptHistory({ base: 'EUR', days }, Date.UTC(2026, 10, 20)).data

it('finds every rate that moved more than tenfold, either way, also over days without one', () => {
  const jumps = ['2026-11-20 USD', '2026-11-17 TRY', '2026-11-19 JPY']
  expect(findJumps(history, '2026-11-16')).toEqual(jumps)
})

it('tells only of the days asked for, but compares with those before them', () => {
  expect(findJumps(history, '2026-11-20')).toEqual(['2026-11-20 USD'])
  expect(findJumps(history, '2026-11-21')).toEqual([])
})
