import { isDeepStrictEqual } from 'node:util'

import * as fc from 'fast-check'
import { expect } from 'vitest'

import type { HistoryDay } from '../../src/index.ts'
import { addDays } from '../fixtures/dates.ts'

const CODES = ['AUD', 'BGN', 'GBP', 'IDR', 'ISK', 'JPY', 'TRL', 'USD']

/** Rates with up to nine digits before and after the point, whose shortest form has no exponent. */
const rate = fc
  .tuple(fc.nat(999_999_999), fc.nat(999_999_999), fc.nat(9))
  .map(([whole, part, digits]) => Number(`${whole}.${String(part).slice(0, digits) || 0}`))
  .filter((value) => /^\d+(\.\d+)?$/.test(String(value)))

/** Generates days in ascending order, each with rates of some currencies, in the order of the bank. */
export function arbitraryDays(): fc.Arbitrary<HistoryDay[]> {
  const rates = fc.array(fc.option(rate), { minLength: CODES.length, maxLength: CODES.length })
  const day = fc.tuple(fc.integer({ min: 1, max: 9 }), rates)
  return fc
    .array(day, { minLength: 1, maxLength: 12 })
    .map((days) => {
      let date = '1999-01-03'
      return days.map(([later, values]) => {
        date = addDays(date, later)
        const quoted = CODES.flatMap((code, index): [string, number][] => {
          const value = values[index]
          return typeof value === 'number' ? [[code, value]] : []
        })
        return { date, rates: Object.fromEntries(quoted) }
      })
    })
    .map((days) => days.filter(({ rates }) => Object.keys(rates).length > 0))
    .filter((days) => days.length > 0)
}

/** Expects the same days with the same rates; 100 times faster than `toEqual` on a long history. */
export function expectSameDays(days: readonly HistoryDay[], expected: readonly HistoryDay[]): void {
  expect(days).toHaveLength(expected.length)
  const different = expected.findIndex((day, at) => !isDeepStrictEqual(day, days[at]))
  expect(days[different], 'the first day that differs').toEqual(expected[different])
}
