import { existsSync, readFileSync } from 'node:fs'

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { addDays, isDay, subtractMonths, toDay, toInstant } from '../../src/rates/day.ts'
import { PERIODS, periodStart } from '../../src/rates/period.ts'
import {
  FIRST_REFERENCE_DAY,
  isTargetDay,
  newestPublishedDay,
  nextLook,
  nextPublication,
  publicationInstant,
} from '../../src/rates/target-calendar.ts'
import * as oracle from '../oracle.ts'

const RECORDED = new URL('../../../shared/data/ecb/eurofxref-hist.csv', import.meta.url)

const day = fc
  .integer({
    min: Date.parse('1900-01-01') / 86_400_000,
    max: Date.parse('2100-01-01') / 86_400_000,
  })
  .map((count) => new Date(count * 86_400_000).toISOString().slice(0, 10))

describe('isDay()', () => {
  it.each(['2026-03-18', '2024-02-29', '2000-02-29', '1999-12-31', '0001-01-01', '9999-12-31'])(
    'accepts %s',
    (text) => {
      expect(isDay(text)).toBe(true)
    },
  )

  it.each(
    (
      '2026-02-30 2026-02-29 1900-02-29 2100-02-29 2026-04-31 2026-13-01 2026-00-10 2026-01-00 ' +
      '2026-01-32 2026-1-5 20260105 26-01-05 2026-01-05T00:00:00Z 2026/01/05 +02026-01-05 ' +
      '-2026-01-05 02026-01-05 ２０２６-01-05 today NaN __proto__ constructor'
    ).split(' '),
  )('refuses %s', (text) => {
    expect(isDay(text)).toBe(false)
  })

  it.each([
    '',
    ' 2026-01-05',
    '2026-01-05 ',
    '2026-01-05\n',
    '2026-01-05\0',
    ' 2024-02-29',
    '02024-02-29',
    '2024-02-29\n',
    '2024-02-29T00:00:00Z',
  ])('refuses %j', (text) => {
    expect(isDay(text)).toBe(false)
  })

  it('accepts every day that there is', () => {
    const accepted: string[] = []
    for (let year = 1996; year <= 2004; year += 1) {
      for (let rest = 0; rest < 1_500; rest += 1) {
        const [month, date] = [Math.floor(rest / 100), rest % 100]
        const text = `${year}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}`
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

  it('clamps to the last of the month, whatever the day', () => {
    const property = fc.property(day, fc.integer({ min: 0, max: 200 }), (date, count) => {
      expect(subtractMonths(date, count)).toBe(oracle.monthsBefore(date, count))
    })
    fc.assert(property, { seed: 1, numRuns: 2_000 })
  })
})

describe('periodStart()', () => {
  it.each([
    ['1W', '2026-03-24'],
    ['1M', '2026-02-28'],
    ['3M', '2025-12-31'],
    ['6M', '2025-09-30'],
    ['1Y', '2025-03-31'],
    ['5Y', '2021-03-31'],
  ] as const)('%s before 2026-03-31 is %s', (period, expected) => {
    expect(periodStart('2026-03-31', period)).toBe(expected)
  })

  it('agrees for every end of ten years', () => {
    expect(PERIODS).toEqual(oracle.PERIODS)
    for (const end of oracle.daysOf('2019-01-01', '2028-12-31')) {
      for (const period of PERIODS) {
        expect(periodStart(end, period)).toBe(oracle.periodStart(end, period))
      }
    }
  })
})

/** Good Friday, Easter Sunday and Easter Monday, from the calendars of the churches. */
const EASTERS = [
  ['2024-03-29', '2024-03-31', '2024-04-01'],
  ['2025-04-18', '2025-04-20', '2025-04-21'],
  ['2026-04-03', '2026-04-05', '2026-04-06'],
  ['2027-03-26', '2027-03-28', '2027-03-29'],
  ['2028-04-14', '2028-04-16', '2028-04-17'],
  ['2029-03-30', '2029-04-01', '2029-04-02'],
  ['2030-04-19', '2030-04-21', '2030-04-22'],
]

describe('isTargetDay()', () => {
  it.each(EASTERS)('closes over Easter: %s, %s and %s', (...closed) => {
    const [friday = '', , monday = ''] = closed
    expect(closed.filter(isTargetDay)).toEqual([])
    expect(isTargetDay(oracle.daysBefore(friday, 1))).toBe(true)
    expect(isTargetDay(addDays(monday, 1))).toBe(true)
  })

  it.each(EASTERS.map(([friday, , monday]) => [friday, monday]))(
    'has no other closing days in the year of %s',
    (friday = '', monday = '') => {
      const year = friday.slice(0, 4)
      const closed = ['01-01', '05-01', '12-25', '12-26'].map((date) => `${year}-${date}`)
      const days = oracle.daysOf(`${year}-01-01`, `${year}-12-31`)
      const weekdays = days.filter((date) => !oracle.isWeekend(date))
      expect(weekdays.filter((date) => !isTargetDay(date))).toEqual(
        [friday, monday, ...closed].filter((date) => weekdays.includes(date)).toSorted(),
      )
      expect(days.filter(isTargetDay).filter(oracle.isWeekend)).toEqual([])
    },
  )

  it('closes over Easter in every year of six centuries', () => {
    for (let year = 1999; year < 2600; year += 1) {
      const sunday = oracle.easterSunday(year)
      expect(isTargetDay(oracle.daysBefore(sunday, 3)), sunday).toBe(true)
      expect(isTargetDay(oracle.daysBefore(sunday, 2)), sunday).toBe(false)
      expect(isTargetDay(addDays(sunday, 1)), sunday).toBe(false)
      expect(isTargetDay(addDays(sunday, 2)), sunday).toBe(true)
    }
  })

  it.each(['2024-12-24', '2024-12-31', '2026-04-02', '2024-05-09', '2024-05-20', '2024-10-03'])(
    'is open on %s, a holiday elsewhere',
    (date) => {
      expect(isTargetDay(date)).toBe(true)
    },
  )
})

describe('a publication', () => {
  it('was first due on the first working day of the euro', () => {
    const days = oracle.daysOf('1999-01-01', '1999-01-31')
    expect(FIRST_REFERENCE_DAY).toBe(days.find(isTargetDay))
  })

  it.each([
    ['2026-03-27', '15:00'], // the Friday before summer time
    ['2026-03-29', '14:00'], // clocks go forward that night
    ['2026-03-30', '14:00'],
    ['2026-10-23', '14:00'],
    ['2026-10-24', '14:00'],
    ['2026-10-25', '15:00'], // clocks go back that night
    ['2026-10-26', '15:00'],
    ['2024-03-31', '14:00'],
    ['2024-10-27', '15:00'],
    ['2027-03-28', '14:00'],
    ['2027-10-31', '15:00'],
    ['2026-01-02', '15:00'],
    ['2026-07-15', '14:00'],
  ])('of %s is due at %s UTC', (date, time) => {
    expect(publicationInstant(date)).toBe(Date.parse(`${date}T${time}:00Z`))
  })

  it('is due at 16:00 on every clock in Frankfurt from 1999 to 2035', () => {
    const clock = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/Berlin',
      hour: '2-digit',
      minute: '2-digit',
    })
    const elsewhen = oracle
      .daysOf('1999-01-01', '2035-12-31')
      .filter((date) => clock.format(publicationInstant(date)) !== '16:00')
    expect(elsewhen).toEqual([])
  })

  it.each([
    // Now, the newest day published by then, and when the next is due.
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

describe('the next look for rates', () => {
  it.each([
    [
      'when nothing is missing: the next publication',
      '2026-11-20',
      '2026-11-20T15:30Z',
      '2026-11-23T15:00Z',
    ],
    ['just late: in ten minutes', '2026-11-19', '2026-11-20T15:01Z', '2026-11-20T15:11Z'],
    ['an hour late: in a quarter of one', '2026-11-19', '2026-11-20T16:00Z', '2026-11-20T16:15Z'],
    ['four hours late: in an hour', '2026-11-18', '2026-11-19T19:00Z', '2026-11-19T20:00Z'],
    ['at night: in the morning', '2026-11-18', '2026-11-19T20:00Z', '2026-11-20T07:00Z'],
    ['after midnight: in the morning', '2026-11-18', '2026-11-20T02:00Z', '2026-11-20T07:00Z'],
    ['that would be at 8:00: then', '2026-11-18', '2026-11-20T03:48Z', '2026-11-20T07:00Z'],
    [
      'that would be at 22:00: in the morning',
      '2026-11-18',
      '2026-11-19T19:48Z',
      '2026-11-20T07:00Z',
    ],
    ['on Friday night: on Monday', '2026-11-19', '2026-11-20T20:30Z', '2026-11-23T07:00Z'],
    ['at a weekend: on Monday', '2026-11-19', '2026-11-21T12:00Z', '2026-11-23T07:00Z'],
    [
      'over Easter, in summer time: on Tuesday',
      '2026-04-01',
      '2026-04-04T12:00Z',
      '2026-04-07T06:00Z',
    ],
    ['before the next one: not beyond it', '2026-11-18', '2026-11-20T14:00Z', '2026-11-20T15:00Z'],
  ])('%s', (_when, newest, instant, expected) => {
    expect(new Date(nextLook(newest, Date.parse(instant)))).toEqual(new Date(expected))
  })

  it('is never at night nor on a day without a publication, nor sooner than in ten minutes', () => {
    const instants = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2031, 0, 1) })
    fc.assert(
      fc.property(instants, fc.integer({ min: 0, max: 9 }), (instant, missing) => {
        const look = nextLook(addDays(newestPublishedDay(instant), -missing), instant)
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

describe.skipIf(!existsSync(RECORDED))(
  'the recorded feed (internal, skipped where ../shared/data is missing)',
  () => {
    it('was published on every TARGET day from 2002 on, and on no other', () => {
      const [first, last] = ['2002-01-02', '2026-04-13']
      const lines = readFileSync(RECORDED, 'utf8').trim().split('\n').slice(1)
      const published = lines
        .map((line) => line.slice(0, 10))
        .filter((date) => date >= first)
        .toReversed()
      expect(published.at(-1)).toBe(last)
      expect(oracle.daysOf(first, last).filter(isTargetDay)).toEqual(published)
    })
  },
)
