import { readFileSync } from 'node:fs'

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import {
  FIRST_REFERENCE_DAY,
  addDays,
  isDay,
  isTargetDay,
  newestPublishedDay,
  nextPublication,
  nextRefresh,
  publicationInstant,
  subtractMonths,
  toDay,
  toInstant,
} from '../../src/rates/dates.ts'
import { DAY_MS } from '../fixtures/dates.ts'
import * as oracle from '../oracle.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

it('isTargetDay() closes the bank on its holidays, over Easter and at weekends', () => {
  const days = [
    ...oracle.daysOf('1999-01-01', '2150-12-31'),
    ...oracle.daysOf('2590-01-01', '2599-12-31'),
  ]
  expect(days.filter(isTargetDay)).toEqual(days.filter(oracle.isTargetDay))
})

describe('a publication', () => {
  it('is due at 16:00 on every clock in Frankfurt from 1999 to 2035', () => {
    expect(FIRST_REFERENCE_DAY).toBe('1999-01-04')
    const format = { timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit' } as const
    const clock = new Intl.DateTimeFormat('en-GB', format)
    const elsewhen = oracle
      .daysOf('1999-01-01', '2035-12-31')
      .filter((date) => clock.format(publicationInstant(date)) !== '16:00')
    expect(elsewhen).toEqual([])
  })

  it.each([
    // Now, the newest published day, and when the next is due.
    ['2026-02-27T14:59:59.999Z', '2026-02-26', '2026-02-27T15:00Z'],
    ['2026-02-27T15:00:00.000Z', '2026-02-27', '2026-03-02T15:00Z'],
    ['2026-07-15T13:59:59.999Z', '2026-07-14', '2026-07-15T14:00Z'],
    ['2026-07-15T14:00:00.000Z', '2026-07-15', '2026-07-16T14:00Z'],
    ['2026-03-27T15:00:00.000Z', '2026-03-27', '2026-03-30T14:00Z'], // over the switch
    ['2026-10-23T14:00:00.000Z', '2026-10-23', '2026-10-26T15:00Z'],
    ['2026-04-05T12:00:00.000Z', '2026-04-02', '2026-04-07T14:00Z'], // Easter
    ['2026-01-01T18:00:00.000Z', '2025-12-31', '2026-01-02T15:00Z'],
    ['2026-12-25T18:00:00.000Z', '2026-12-24', '2026-12-28T15:00Z'],
    ['2027-01-01T00:00:00.000Z', '2026-12-31', '2027-01-04T15:00Z'],
    ['2026-05-01T18:00:00.000Z', '2026-04-30', '2026-05-04T14:00Z'],
  ])('at %s, the newest is that of %s and the next is due at %s', (now, newest, next) => {
    expect(newestPublishedDay(Date.parse(now))).toBe(newest)
    expect(nextPublication(Date.parse(now))).toBe(Date.parse(next))
  })
})

describe('the next request for rates', () => {
  it.each([
    // Title, the newest current day, now, and the time of the next request.
    ['with nothing missing: at the next', '2026-11-20', '2026-11-20T15:30Z', '2026-11-23T15:00Z'],
    ['just late: in ten minutes', '2026-11-19', '2026-11-20T15:01Z', '2026-11-20T15:11Z'],
    ['an hour late: in a quarter of one', '2026-11-19', '2026-11-20T16:00Z', '2026-11-20T16:15Z'],
    ['four hours late: in an hour', '2026-11-18', '2026-11-19T19:00Z', '2026-11-19T20:00Z'],
    ['at night: in the morning', '2026-11-18', '2026-11-19T20:00Z', '2026-11-20T07:00Z'],
    ['after midnight: in the morning', '2026-11-18', '2026-11-20T02:00Z', '2026-11-20T07:00Z'],
    ['due at 8:00: then', '2026-11-18', '2026-11-20T03:48Z', '2026-11-20T07:00Z'],
    ['due at 22:00: in the morning', '2026-11-18', '2026-11-19T19:48Z', '2026-11-20T07:00Z'],
    ['on Friday night: on Monday', '2026-11-19', '2026-11-20T20:30Z', '2026-11-23T07:00Z'],
    ['at a weekend: on Monday', '2026-11-19', '2026-11-21T12:00Z', '2026-11-23T07:00Z'],
    ['over Easter, in summer: on Tuesday', '2026-04-01', '2026-04-04T12:00Z', '2026-04-07T06:00Z'],
    ['close to the next one: then', '2026-11-18', '2026-11-20T14:00Z', '2026-11-20T15:00Z'],
  ])('%s', (_when, newest, instant, expected) => {
    expect(new Date(nextRefresh(newest, Date.parse(instant)))).toEqual(new Date(expected))
  })

  it('is never at night, on a day without a publication or within ten minutes', () => {
    const instants = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2031, 0, 1) })
    fc.assert(
      fc.property(instants, fc.integer({ min: 0, max: 9 }), (instant, missing) => {
        const look = nextRefresh(addDays(newestPublishedDay(instant), -missing), instant)
        const day = toDay(look)
        const fromPublication = (look - publicationInstant(day)) / 3_600_000
        expect(isTargetDay(day)).toBe(true)
        expect(fromPublication).toBeGreaterThanOrEqual(-8)
        expect(fromPublication).toBeLessThan(6)
        expect(look - instant >= 600_000 || look === nextPublication(instant)).toBe(true)
      }),
    )
  })
})

const day = fc
  .integer({ min: Date.parse('0020-01-01') / DAY_MS, max: Date.parse('9900-01-01') / DAY_MS })
  .map((count) => new Date(count * DAY_MS).toISOString().slice(0, 10))

describe('a day', () => {
  it('is one of the calendar', () => {
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

  it('starts at midnight UTC, as Date says in all years of four digits and around them', () => {
    expect(toInstant('2026-03-18')).toBe(Date.UTC(2026, 2, 18))
    const [first, last] = [Date.UTC(-1, 11, 20), Date.UTC(10_000, 0, 9)]
    const wrong: number[] = []
    for (let instant = first; instant < last; instant += 31.7 * DAY_MS) {
      if (toDay(instant) !== new Date(instant).toISOString().slice(0, 10)) wrong.push(instant)
    }
    expect(wrong).toEqual([])
    expect([toDay(-1), toDay(0)]).toEqual(['1969-12-31', '1970-01-01'])
    expect(() => toDay(NaN)).toThrow(RangeError)
  })

  it('moves by days, and back by months, to the last day of a shorter one', () => {
    const property = fc.property(day, fc.integer({ min: 0, max: 800 }), (date, count) => {
      const before = oracle.daysBefore(date, count)
      expect([addDays(date, -count), addDays(before, count)]).toEqual([before, date])
      expect(subtractMonths(date, count % 200)).toBe(oracle.monthsBefore(date, count % 200))
    })
    fc.assert(property, { seed: 1, numRuns: 2_000 })
  })
})

describe.skipIf(!HAS_RECORDINGS)(`the recorded feed ${NEEDS_RECORDINGS}`, () => {
  it('was published on every TARGET day from 2002 on, and on no other', () => {
    const [first, last] = ['2002-01-02', '2026-04-13']
    const text = readFileSync(recording('data/ecb/eurofxref-hist.csv'), 'utf8')
    const lines = text.trim().split('\n').slice(1)
    const published = lines
      .map((line) => line.slice(0, 10))
      .filter((date) => date >= first)
      .toReversed()
    expect(published.at(-1)).toBe(last)
    expect(oracle.daysOf(first, last).filter(isTargetDay)).toEqual(published)
  })
})
