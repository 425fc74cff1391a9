import { describe, expect, it } from 'vitest'

import { didYouMean, editDistance, nearest } from '../../src/cli/nearest.ts'
import { suggestCodes } from '../../src/cli/suggest-codes.ts'

describe('editDistance', () => {
  it.each([
    ['EUR', 'EUR', 0],
    ['EURO', 'EUR', 1],
    ['ER', 'EUR', 1],
    ['GPB', 'GBP', 1],
    ['convrt', 'convert', 1],
    ['YSD', 'USD', 1],
    ['kitten', 'sitting', 3],
    ['', 'USD', 3],
    ['USD', '', 3],
  ])('counts from %j to %j %d letters', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance)
  })

  it('is the same in both directions', () => {
    expect(editDistance('abcd', 'badc')).toBe(editDistance('badc', 'abcd'))
  })
})

describe('nearest', () => {
  it('takes all that are nearest, whatever the case, and none that are too far', () => {
    expect(nearest('ush', ['USD', 'EUR', 'UAH'], 1)).toEqual(['USD', 'UAH'])
    expect(nearest('xyz', ['USD', 'EUR'], 2)).toEqual([])
    expect(nearest('usd', ['USD', 'UAD'], 1)).toEqual(['USD'])
  })

  it('does not compare what nobody mistypes', () => {
    expect(nearest('x'.repeat(100_000), ['USD'], Infinity)).toEqual([])
  })
})

describe('didYouMean', () => {
  it('names three at most', () => {
    expect(didYouMean([])).toBe('')
    expect(didYouMean(['a'])).toBe('. Did you mean a?')
    expect(didYouMean(['a', 'b'])).toBe('. Did you mean a or b?')
    expect(didYouMean(['a', 'b', 'c', 'd'])).toBe('. Did you mean a, b or c?')
  })
})

describe('suggestCodes', () => {
  const covered = ['AUD', 'CHF', 'EUR', 'GBP', 'JPY', 'USD']

  it.each([
    [['EURO'], ['EUR']],
    [['euros'], ['EUR']],
    [['GPB'], ['GBP']],
    [['USD', 'GPB'], ['GBP']],
    [['yen'], ['JPY']],
    [['Swiss'], ['CHF']],
    [['dollar'], ['AUD', 'USD']],
    [['QQQ'], []],
    [['usd'], []],
    [[], []],
  ])('for %j are %j', (sent, suggested) => {
    expect(suggestCodes(sent, covered)).toEqual(suggested)
  })

  it('are only those that the data cover, and none for a withdrawn currency', () => {
    expect(suggestCodes(['EURO'], ['USD'])).toEqual([])
    expect(suggestCodes(['DEM'], ['DKM'])).toEqual([])
  })
})
