import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { addDays, isDay, subtractMonths, toDay, toInstant } from '../../src/rates/day.ts'
import { DAY_MS } from '../fixtures/dates.ts'
import * as oracle from '../oracle.ts'

const day = fc
  .integer({ min: Date.parse('1900-01-01') / DAY_MS, max: Date.parse('2100-01-01') / DAY_MS })
  .map((count) => new Date(count * DAY_MS).toISOString().slice(0, 10))

describe('isDay()', () => {
  const days = ['2026-03-18', '2024-02-29', '2000-02-29', '1999-12-31', '0001-01-01', '9999-12-31']

  it.each(days)('accepts %s', (text) => {
    expect(isDay(text)).toBe(true)
  })

  const others = (
    '2026-02-30 2026-02-29 1900-02-29 2100-02-29 2026-04-31 2026-13-01 2026-00-10 2026-01-00 ' +
    '2026-01-32 2026-1-5 20260105 26-01-05 2026-01-05T00:00:00Z 2026/01/05 +02026-01-05 ' +
    '-2026-01-05 02026-01-05 ２０２６-01-05 today NaN __proto__ constructor 02024-02-29 ' +
    '2024-02-29T00:00:00Z'
  ).split(' ')
  const spaced = ['', ' 2026-01-05', '2026-01-05 ', '2026-01-05\n', '2026-01-05\0']

  it.each([...others, ...spaced, ' 2024-02-29', '2024-02-29\n'])('refuses %j', (text) => {
    expect(isDay(text)).toBe(false)
  })

  it('accepts exactly the days of the calendar', () => {
    const two = (value: number): string => String(value).padStart(2, '0')
    const accepted: string[] = []
    for (let year = 1996; year <= 2004; year += 1) {
      for (let rest = 0; rest < 1_500; rest += 1) {
        const text = `${year}-${two(Math.floor(rest / 100))}-${two(rest % 100)}`
        if (isDay(text)) accepted.push(text)
      }
    }
    expect(accepted).toEqual(oracle.daysOf('1996-01-01', '2004-12-31'))
  })
})

describe('a day', () => {
  it.each([
    ['1970-01-01T00:00:00.000Z', '1970-01-01'],
    ['2026-03-18T23:59:59.999Z', '2026-03-18'],
    ['2026-03-19T00:00:00.000Z', '2026-03-19'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31'],
  ])('is the one in UTC: %s is in %s', (instant, expected) => {
    expect(toDay(Date.parse(instant))).toBe(expected)
  })

  it('starts at midnight UTC', () => {
    expect(toInstant('2026-03-18')).toBe(Date.UTC(2026, 2, 18))
  })

  it('moves on and back by days', () => {
    const property = fc.property(day, fc.integer({ min: 0, max: 800 }), (date, count) => {
      const before = oracle.daysBefore(date, count)
      expect(addDays(date, -count)).toBe(before)
      expect(addDays(before, count)).toBe(date)
    })
    fc.assert(property, { seed: 1, numRuns: 1_000 })
  })
})

describe('subtractMonths()', () => {
  it.each([
    ['2026-03-31', 1, '2026-02-28'],
    ['2024-03-31', 1, '2024-02-29'],
    ['2026-03-28', 1, '2026-02-28'],
    ['2026-05-31', 1, '2026-04-30'],
    ['2026-05-31', 3, '2026-02-28'],
    ['2026-08-31', 6, '2026-02-28'],
    ['2026-01-31', 1, '2025-12-31'],
    ['2026-01-15', 12, '2025-01-15'],
    ['2026-12-31', 1, '2026-11-30'],
    ['2028-02-29', 60, '2023-02-28'],
    ['2024-02-29', 12, '2023-02-28'],
    ['2024-02-29', 48, '2020-02-29'],
    ['2100-03-31', 1, '2100-02-28'],
    ['2000-03-31', 1, '2000-02-29'],
    ['2026-03-18', 0, '2026-03-18'],
  ])('%s less %i is %s', (date, count, expected) => {
    expect(subtractMonths(date, count)).toBe(expected)
  })

  it('clamps to the last day of the month', () => {
    const property = fc.property(day, fc.integer({ min: 0, max: 200 }), (date, count) => {
      expect(subtractMonths(date, count)).toBe(oracle.monthsBefore(date, count))
    })
    fc.assert(property, { seed: 1, numRuns: 2_000 })
  })
})
