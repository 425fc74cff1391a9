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

import { addDays } from '../../src/rates/dates.ts'
import {
  buildMarket,
  coveredCodes,
  isCovered,
  marketDays,
  mergeHistory,
  newestDay,
  rowsOf,
} from '../../src/rates/market-history.ts'
import type { MarketHistory } from '../../src/rates/market-history.ts'
import { validateHistory } from '../../src/rates/validate.ts'

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
  return validateHistory({ base: 'EUR', days: listed }, Date.UTC(2026, 10, 20)).data
}

describe('mergeHistory()', () => {
  it('has all days since the start, with the later version of each rate', () => {
    assert(
      property(days, days, integer({ min: 0, max: 9 }), (before, after, from) => {
        const start = addDays(FIRST, from)
        const merged = mergeHistory(toMarket(before), toMarket(after), start)
        // The last of duplicate days in a market counts as a whole.
        const byDate = (listed: Day[]) => new Map(listed.map(({ date, rates }) => [date, rates]))
        const [current, added] = [byDate(before), byDate(after)]
        const dates = [...new Set([...current.keys(), ...added.keys()])].filter(
          (date) => date >= start,
        )
        const expected = dates
          .toSorted()
          .map((date) => [date, { ...current.get(date), ...added.get(date) }])
        const found = marketDays(merged).map(({ date, rates }) => [date, Object.fromEntries(rates)])
        expect(found).toEqual(expected)
        for (const column of merged.columns.values()) {
          expect(column.some((rate) => rate > 0)).toBe(true)
        }
      }),
    )
  })
})

describe('the covered codes', () => {
  const market = toMarket([
    { date: '2026-11-02', rates: { USD: 1.1, RUB: 90 } },
    { date: '2026-11-05', rates: { USD: 1.1, ISK: 140 } },
    { date: '2026-11-06', rates: { USD: 1.1, HRK: 7.5 } },
    { date: '2026-11-18', rates: { USD: 1.1, BGN: 1.96 } },
    { date: '2026-11-19', rates: { USD: 1.1, TRY: 49 } },
  ])

  it('end with the newest day that is not in the future', () => {
    expect(newestDay(market, '2026-11-19')).toBe('2026-11-19')
    expect(newestDay(market, '2026-11-17')).toBe('2026-11-06')
    expect(newestDay(market, '2026-11-01')).toBeUndefined()
  })

  it('are those quoted in the 14 days up to it, and the base', () => {
    expect(coveredCodes(market, '2026-11-19')).toEqual(['BGN', 'EUR', 'HRK', 'TRY', 'USD'])
    expect(coveredCodes(market, '2026-11-18')).toEqual(['BGN', 'EUR', 'HRK', 'ISK', 'USD'])
    expect(isCovered(market, 'EUR', '2030-01-01')).toBe(true)
    expect(isCovered(market, 'USD', '2030-01-01')).toBe(false)
    expect(isCovered(market, 'QQQ', '2026-11-19')).toBe(false)
  })

  it('have rows from the first to the last day, inclusive', () => {
    expect(rowsOf(market, '2026-11-05', '2026-11-18')).toEqual([1, 4])
    expect(rowsOf(market, '2026-11-03', '2026-11-17')).toEqual([1, 3])
    expect(rowsOf(market, '2026-10-01', '2026-12-31')).toEqual([0, 5])
    expect(rowsOf(market, '2026-11-20', '2026-12-31')).toEqual([5, 5])
  })
})

describe('buildMarket()', () => {
  const NONE = NaN

  it('accepts days in any order, with currencies in any order', () => {
    const builder = buildMarket('EUR', 3)
    builder.addDay('2026-11-19', ['USD', 'JPY', 'GBP'], [1.1, 180, 0.8])
    builder.addDay('2026-11-18', ['JPY', 'USD', 'CHF'], [181, 1.2, 0.9])
    builder.addDay('2026-11-20', ['GBP', 'CHF', 'JPY'], [0.7, 0.95, 182])
    expect(builder.build()).toEqual({
      base: 'EUR',
      dates: ['2026-11-18', '2026-11-19', '2026-11-20'],
      columns: new Map([
        ['USD', Float64Array.of(1.2, 1.1, NONE)],
        ['JPY', Float64Array.of(181, 180, 182)],
        ['GBP', Float64Array.of(NONE, 0.8, 0.7)],
        ['CHF', Float64Array.of(0.9, NONE, 0.95)],
      ]),
    })
  })

  it('has columns as long as its days, regardless of the maximum', () => {
    const builder = buildMarket('EUR', 5)
    builder.addDay('2026-11-18', ['USD'], [1.1])
    builder.addDay('2026-11-19', ['USD'], [1.2])
    expect(builder.build().columns).toEqual(new Map([['USD', Float64Array.of(1.1, 1.2)]]))
  })

  it('keeps no rate of a replaced day', () => {
    const builder = buildMarket('EUR', 3)
    expect(builder.has('2026-11-18')).toBe(false)
    builder.addDay('2026-11-18', ['USD', 'JPY'], [1.1, 180])
    expect(builder.has('2026-11-18')).toBe(true)
    builder.addDay('2026-11-19', ['USD', 'JPY'], [1.2, 181])
    builder.addDay('2026-11-18', ['JPY'], [182])
    const { dates, columns } = builder.build()
    expect(dates).toEqual(['2026-11-18', '2026-11-19'])
    expect(columns.get('USD')).toEqual(Float64Array.of(NONE, 1.2))
    expect(columns.get('JPY')).toEqual(Float64Array.of(182, 181))
  })
})
