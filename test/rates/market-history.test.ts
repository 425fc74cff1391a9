import {
  array,
  assert,
  constantFrom,
  dictionary,
  double,
  integer,
  property,
  record,
} from 'fast-check'
import { describe, expect, it } from 'vitest'

import { acceptHistory } from '../../src/rates/accept.ts'
import { addDays } from '../../src/rates/day.ts'
import { marketDays, mergeHistory } from '../../src/rates/market-history.ts'
import type { MarketHistory } from '../../src/rates/market-history.ts'

interface Day {
  date: string
  rates: Record<string, number>
}

const FIRST = '2026-11-02'

const day = record({
  date: integer({ min: 0, max: 8 }).map((count) => addDays(FIRST, count)),
  rates: dictionary(
    constantFrom('USD', 'JPY', 'GBP'),
    double({ min: 0.01, max: 100, noNaN: true }),
    { minKeys: 1 },
  ),
})
const days = array(day, { minLength: 1, maxLength: 6 })

function toMarket(listed: Day[]): MarketHistory {
  return acceptHistory({ base: 'EUR', days: listed }, Date.UTC(2026, 10, 20)).data
}

describe('mergeHistory()', () => {
  it('is the market of all days from the first wanted on, of which the later word counts', () => {
    assert(
      property(days, days, integer({ min: 0, max: 9 }), (before, after, from) => {
        const start = addDays(FIRST, from)
        const merged = mergeHistory(toMarket(before), toMarket(after), start)
        const byDate = new Map([...before, ...after].map(({ date, rates }) => [date, rates]))
        const dates = [...byDate.keys()].filter((date) => date >= start).toSorted()
        const expected = dates.map((date) => [date, byDate.get(date)])
        const found = marketDays(merged).map(({ date, rates }) => [date, Object.fromEntries(rates)])
        expect(found).toEqual(expected)
        for (const column of merged.columns.values()) {
          expect(column.some((rate) => rate > 0)).toBe(true)
        }
      }),
    )
  })
})
