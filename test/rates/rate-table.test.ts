import { describe, expect, it } from 'vitest'

import { crossRate } from '../../src/rates/rate-table.ts'
import type { RateTable } from '../../src/rates/rate-table.ts'

const table: RateTable = {
  base: 'USD',
  updatedAt: 0,
  nextUpdateAt: 1,
  rates: new Map([
    ['USD', 1],
    ['EUR', 0.851_234_567_891_2],
    ['JPY', 154.5],
  ]),
}

describe('crossRate()', () => {
  it.each([
    ['as it was published', 'USD', 'EUR', 0.851_234_567_891_2],
    ['to 10 digits where it is derived', 'EUR', 'USD', 1.174_764_322],
    ['to 10 digits between two others', 'EUR', 'JPY', 181.501_087_7],
    ['at 1 for the base itself', 'USD', 'USD', 1],
    ['at 1 for any other in itself', 'EUR', 'EUR', 1],
  ])('quotes %s: %s in %s', (_how, from, to, rate) => {
    expect(crossRate(table, from, to)).toBe(rate)
  })

  it.each([
    ['USD', 'QQQ'],
    ['QQQ', 'USD'],
    ['QQQ', 'QQQ'],
  ])('knows no rate of %s in %s', (from, to) => {
    expect(() => crossRate(table, from, to)).toThrow(`no ${from} or no ${to}`)
  })
})
