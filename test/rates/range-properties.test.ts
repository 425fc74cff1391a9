import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'

import type { HistoryRangeQuestion, Point } from '../../src/index.ts'
import { longService } from '../fixtures/long-market.ts'
import type { LongService } from '../fixtures/long-market.ts'

const RUNS = { seed: 20_261_120, numRuns: 150 }
const DAY_MS = 86_400_000
const FIRST = Date.parse('1999-01-04')
const LAST = Date.parse('2026-11-20')

/** Days of all that there are, ascending. */
function days(count: number): fc.Arbitrary<string[]> {
  const day = fc.integer({ min: 0, max: (LAST - FIRST) / DAY_MS })
  return fc
    .array(day, { minLength: count, maxLength: count })
    .map((numbers) => numbers.toSorted((one, other) => one - other).map(toDay))
}

function toDay(number: number): string {
  return new Date(FIRST + number * DAY_MS).toISOString().slice(0, 10)
}

/** The Monday of the week of `day`. */
function mondayOf(day: string): string {
  const date = new Date(day)
  while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1)
  return date.toISOString().slice(0, 10)
}

const SPANS = { week: mondayOf, month: (day: string) => day.slice(0, 7) }

const code = fc.constantFrom('EUR', 'USD', 'IDR', 'JPY', 'GBP', 'TRY')

describe('any range', () => {
  let service: LongService

  beforeAll(() => {
    service = longService()
  })

  async function pointsOf(question: HistoryRangeQuestion): Promise<Point[]> {
    const record = await service.handler.rates.history(question).catch(() => ({ points: [] }))
    return record.points
  }

  it('is its two halves, one behind the other', async () => {
    const property = fc.asyncProperty(code, code, days(3), async (from, to, [a, b, c]) => {
      const [start = '', middle = '', end = ''] = [a, b, c]
      const next = toDay((Date.parse(middle) - FIRST) / DAY_MS + 1)
      const whole = await pointsOf({ from, to, start, end })
      const first = await pointsOf({ from, to, start, end: middle })
      const second = next > end ? [] : await pointsOf({ from, to, start: next, end })
      expect([...first, ...second]).toEqual(whole)
    })
    await fc.assert(property, RUNS)
  })

  it.each(['week', 'month'] as const)(
    'has by %s the last of its points in each',
    async (interval) => {
      const property = fc.asyncProperty(code, code, days(2), async (from, to, [a, b]) => {
        const question = { from, to, start: a ?? '', end: b ?? '' }
        const daily = await pointsOf(question)
        const some = daily.length === 0 ? [] : await pointsOf({ ...question, interval })
        const last = new Map(daily.map((point) => [SPANS[interval](point.d), point]))
        expect(some).toEqual([...last.values()])
      })
      await fc.assert(property, RUNS)
    },
  )

  it('has on every day the rates of the table of that day, to the digit', async () => {
    const property = fc.asyncProperty(code, days(1), async (base, [date = '']) => {
      const table = await service.handler.rates.latest({ base, date })
      const on = { start: table.date, end: table.date }
      expect(table.date <= date).toBe(true)
      expect(await pointsOf({ from: base, to: 'EUR', start: table.date, end: date })).toHaveLength(
        1,
      )
      expect(Object.keys(table.rates).length).toBeGreaterThanOrEqual(29)
      for (const [to, rate] of Object.entries(table.rates)) {
        expect(await pointsOf({ from: base, to, ...on })).toEqual([{ d: table.date, r: rate }])
      }
    })
    await fc.assert(property, { ...RUNS, numRuns: 40 })
  })
})
