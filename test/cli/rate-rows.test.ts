import { describe, expect, it } from 'vitest'

import { toRateRows } from '../../src/cli/terminal/rate-rows.ts'

const RESULTS = {
  EUR: { rate: 0.9864851534, result: 101.36999999984 },
  JPY: { rate: 176.0284108, result: 0.568090114235128 },
}

function rowsIn(width: number): string[] {
  const terminal = { isTTY: true, width, hasColour: false, hasUnicode: true }
  return toRateRows(RESULTS, { head: 'USD', terminal })
}

describe('toRateRows', () => {
  it('has numbers under each other by their points, and names', () => {
    expect(rowsIn(80)).toEqual([
      'code  USD                  rate            name',
      'EUR   101.36999999984        0.9864851534  Euro',
      'JPY     0.568090114235128  176.0284108     Japanese Yen',
    ])
  })

  it('cuts names where there is little room, and no rates', () => {
    expect(rowsIn(50).at(-1)).toBe('JPY     0.568090114235128  176.0284108     Japane…')
    expect(rowsIn(46).at(-1)).toBe('JPY     0.568090114235128  176.0284108')
    expect(rowsIn(40)).toEqual(['code  USD', 'EUR   101.36999999984', 'JPY     0.568090114235128'])
  })

  it.each([80, 46, 40, 20])('fits %d characters', (width) => {
    expect(Math.max(...rowsIn(width).map((line) => line.length))).toBeLessThanOrEqual(width)
  })
})
