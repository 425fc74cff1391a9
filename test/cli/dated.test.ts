import { describe, expect, it } from 'vitest'

import { daySentence, isSettledOn } from '../../src/cli/dated.ts'

const DAY = 86_400_000

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY).toISOString().slice(0, 10)
}

describe('isSettledOn', () => {
  it('holds of a day that was published', () => {
    expect(isSettledOn(daysAgo(0), daysAgo(0))).toBe(true)
    expect(isSettledOn('2020-02-28', '2020-02-28')).toBe(true)
  })

  it('holds of a day without a publication only when no later one may be missing', () => {
    expect(isSettledOn(daysAgo(1), daysAgo(3))).toBe(false)
    expect(isSettledOn(daysAgo(20), daysAgo(21))).toBe(false)
    expect(isSettledOn(daysAgo(40), daysAgo(41))).toBe(true)
  })

  it('does not hold where no day was asked for', () => {
    expect(isSettledOn(undefined, undefined)).toBe(false)
    expect(isSettledOn(undefined, '2020-02-28')).toBe(false)
  })
})

describe('daySentence', () => {
  it('names the day that was asked for where it is another', () => {
    expect(daySentence('2020-02-28', '2020-02-28')).toBe('2020-02-28')
    expect(daySentence('2020-02-28', '2020-02-29')).toBe('2020-02-28, the last before 2020-02-29')
  })
})
