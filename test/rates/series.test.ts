import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Interval } from '../../src/index.ts'
import { addDays } from '../fixtures/dates.ts'
import * as oracle from '../oracle.ts'
import { handlerOfDays } from './markets.ts'
import type { Days } from './markets.ts'

const DAYS: Days = {
  '2026-11-16': { USD: 1.16, GBP: 0.88 },
  '2026-11-17': { USD: 1.15, GBP: 0.87 },
  '2026-11-18': { USD: 1.17 },
  '2026-11-19': { GBP: 0.89 },
  '2026-11-20': { USD: 1.15, GBP: 0.88 },
}

const { rates } = handlerOfDays(DAYS)

// The modules that the handler imports on first use belong to no single test: any of them may kill a mutant there.
await Promise.allSettled([rates.history({ from: 'EUR', to: 'USD', start: '2026-11-16' })])

/** Returns every day from `start` to `end`, with the number of the day as its rate. */
function numbered(start: string, end: string): Days {
  const days = oracle.daysOf(start, end)
  return Object.fromEntries(days.map((date, index) => [date, { USD: index + 1 }]))
}

describe('the points of a pair', () => {
  it.each([
    ['EUR', 'USD', { 16: 1.16, 17: 1.15, 18: 1.17, 20: 1.15 }],
    ['USD', 'EUR', { 16: 0.8620689655, 17: 0.8695652174, 18: 0.8547008547, 20: 0.8695652174 }],
    ['GBP', 'USD', { 16: 1.318181818, 17: 1.32183908, 20: 1.306818182 }],
    ['EUR', 'EUR', { 16: 1, 17: 1, 18: 1, 19: 1, 20: 1 }],
  ])('are as published, or to 10 digits, on days with both: %s in %s', async (from, to, byDay) => {
    const { points } = await rates.history({ from, to, start: '2026-11-01' })
    expect(points).toEqual(Object.entries(byDay).map(([day, r]) => ({ d: `2026-11-${day}`, r })))
  })

  it.each([
    ['USD', '2026-11-17', '2026-11-18', ['2026-11-17', '2026-11-18']],
    ['GBP', '2026-11-17', '2026-11-18', ['2026-11-17']],
    ['GBP', '2026-11-18', '2026-11-19', ['2026-11-19']],
  ])('begin with the first day and end with the last: %s from %s to %s', async (...row) => {
    const [to, start, end, days] = row
    const { points } = await rates.history({ from: 'EUR', to, start, end })
    expect(points.map(({ d }) => d)).toEqual(days)
  })

  it('are missing if no day has both', async () => {
    const day = { start: '2026-11-19', end: '2026-11-19' }
    const history = rates.history({ from: 'EUR', to: 'USD', ...day })
    await expect(history).rejects.toMatchObject({ code: 'no_data' })
  })
})

it.each([
  // First and last rate with the change in percent; highest and lowest rate with their days; average.
  ['USD', 16, [1.16, 1.15, -0.8621], [1.17, 18], [1.15, 17], 1.1575],
  ['GBP', 16, [0.88, 0.88, 0], [0.89, 19], [0.87, 17], 0.88],
  ['EUR', 16, [1, 1, 0], [1, 16], [1, 16], 1],
  ['USD', 20, [1.15, 1.15, 0], [1.15, 20], [1.15, 20], 1.15],
])(
  'has the first day of each extreme in its statistics: %s since day %d',
  async (to, start, ...expected) => {
    const [[open, close, changePct], [high, highDay], [low, lowDay], average] = expected
    const { stats } = await rates.history({ from: 'EUR', to, start: `2026-11-${start}` })
    const dates = { highDate: `2026-11-${highDay}`, lowDate: `2026-11-${lowDay}` }
    expect(stats).toEqual({ open, close, changePct, high, low, average, ...dates })
  },
)

describe('an interval', () => {
  async function lastDays(days: Days, interval: Interval): Promise<string[]> {
    const [start = ''] = Object.keys(days)
    const { rates } = handlerOfDays(days, Object.keys(days).at(-1))
    const { points } = await rates.history({ from: 'EUR', to: 'USD', start, interval })
    expect(points).toEqual(points.map(({ d }) => ({ d, r: days[d]?.['USD'] })))
    return points.map(({ d }) => d)
  }

  it.each([
    // Also over the turn of a year, and in a leap year.
    ['week', '2020-12-25', '2021-01-12', '2020-12-27 2021-01-03 2021-01-10 2021-01-12'],
    ['month', '2023-12-30', '2024-03-01', '2023-12-31 2024-01-31 2024-02-29 2024-03-01'],
  ] as const)('of a %s ends on Sunday, or on the last day', async (interval, start, end, last) => {
    expect(await lastDays(numbered(start, end), interval)).toEqual(last.split(' '))
  })

  it.each([
    ['month', '2023-05-31', '2024-05-02', '2024-05-03'],
    ['week', '2023-05-31', '2024-05-29', '2024-05-30'],
  ] as const)('keeps the same %s of two years separate', async (interval, ...days) => {
    const market = Object.fromEntries(days.map((date) => [date, { USD: 1.1 }]))
    expect(await lastDays(market, interval)).toEqual([days[0], days[2]])
  })

  it.each([
    ['day', 366],
    ['week', 53],
    ['month', 12],
  ] as const)('of a %s leaves %d points of a leap year', async (interval, count) => {
    expect(await lastDays(numbered('2024-01-01', '2024-12-31'), interval)).toHaveLength(count)
  })

  it('keeps the last of any days before each Monday or first of a month', async () => {
    const starts = { day: () => true, week: isMonday, month: (day: string) => day.endsWith('-01') }
    const first = fc.nat(110 * 365).map((count) => addDays('1999-01-04', count))
    const gaps = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.nat(80)), { maxLength: 30 })
    const anyInterval = fc.constantFrom('day', 'week', 'month')
    const property = fc.asyncProperty(first, gaps, anyInterval, async (start, steps, interval) => {
      const days = [start]
      for (const step of steps) days.push(addDays(days.at(-1) ?? '', step + 1))
      const market = Object.fromEntries(days.map((day, index) => [day, { USD: index + 1 }]))
      const expected = days.filter((day, index) => {
        const next = days[index + 1]
        return !next || oracle.daysOf(addDays(day, 1), next).some(starts[interval])
      })
      expect(await lastDays(market, interval)).toEqual(expected)
    })
    await fc.assert(property, { seed: 20_261_123, numRuns: 300 })
  })
})

function isMonday(day: string): boolean {
  return !oracle.isWeekend(day) && oracle.isWeekend(oracle.daysBefore(day, 1))
}

describe('a period', () => {
  /** Returns the first point of a market with the days around the expected start, and `end`. */
  async function firstDay(end: string, period: oracle.Period): Promise<string | undefined> {
    const start = oracle.periodStart(end, period)
    const days = { ...numbered(addDays(start, -3), addDays(start, 3)), [end]: { USD: 1 } }
    const params = { from: 'EUR', to: 'USD', period } as const
    const { points } = await handlerOfDays(days, end).rates.history(params)
    expect(points.at(-1)?.d).toBe(end)
    return points[0]?.d
  }

  it('begins before 2026-03-31 on the same day of a month, or on its last', async () => {
    const periods = ['1W', '1M', '3M', '6M', '1Y', '5Y'] as const
    const starts = periods.map((period) => firstDay('2026-03-31', period))
    const days = '2026-03-24 2026-02-28 2025-12-31 2025-09-30 2025-03-31 2021-03-31'
    expect(await Promise.all(starts)).toEqual(days.split(' '))
  })

  it('begins the months before any day, or on the last day of a shorter month', async () => {
    const end = fc.nat(10 * 365).map((count) => addDays('2028-12-31', -count))
    const anyPeriod = fc.constantFrom(...oracle.PERIODS)
    const property = fc.asyncProperty(end, anyPeriod, async (day, period) => {
      expect(await firstDay(day, period)).toBe(oracle.periodStart(day, period))
    })
    await fc.assert(property, { seed: 20_261_122, numRuns: 200 })
  })
})

const decimal = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999_999 }), fc.integer({ min: -25, max: 25 }))
  .map(([digits, power]) => Number(`${digits}e${power}`))
const double = fc.double({ min: 1e-100, max: 1e100, noNaN: true })
const numbers = [
  [1, 2, 10, 100, 0.1, 0.5, 0.05, 0.85367936, 1.1579, 168.4478835, 4_500_000, 9_999_999_999],
  [1e10, 12_345_678_901, 999_999_999.9, 1_000_000_000.5, 0.000001, 0.0000012345, 0.00000099],
  [1e-7, 1e21, 1e22, 1.5e90, 5e-99, 0.1 + 0.2, 1 / 3, 2 / 3, 9.9999999999, 9.99999999999],
  [0.99999999995, 123_456.7890123, Number.MAX_SAFE_INTEGER, 1e100, 1e-100],
  // The longest possible number.
  Array.from({ length: 40 }, () => 1.2345678901234567e-100),
  fc.sample(fc.oneof(decimal, double), { seed: 20_261_121, numRuns: 9_000 }),
].flat()

it('writes rates like JSON.stringify() and String() do', async () => {
  const dates = numbers.map((_, index) => addDays('2000-01-01', index))
  const days = dates.map((date, index) => [date, { USD: numbers[index] ?? NaN }])
  const handler = handlerOfDays(Object.fromEntries(days))
  const target = 'http://localhost/api/v1/history?from=EUR&to=USD&start=2000-01-01'
  const text = await (await handler(new Request(target))).text()
  const points = text.slice(text.indexOf('['), text.indexOf(']') + 1)
  const written = JSON.stringify(dates.map((d, index) => ({ d, r: numbers[index] })))
  expect(points === written).toBe(true)
  const csv = await (await handler(new Request(`${target}&format=csv`))).text()
  const cells = csv.split('\r\n').map((line) => line.split(',')[3])
  expect(cells).toEqual(['rate', ...numbers.map(String), undefined])
})
