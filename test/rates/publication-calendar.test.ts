import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, Publication } from '../../src/index.ts'
import { createCnbProvider } from '../../src/providers/banks/cnb.ts'
import { createNbpProvider } from '../../src/providers/banks/nbp.ts'
import { createCalendar } from '../../src/rates/calendar.ts'
import { newestPublishedDay, nextPublication, nextRefresh } from '../../src/rates/dates.ts'
import type { Calendar } from '../../src/rates/dates.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import * as oracle from '../oracle.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const NORWAY: Publication = {
  id: 'norway',
  frequency: 'daily',
  holidays: '01-01 easter-3 easter-2 easter+1 05-01 05-17 easter+39 easter+50 12-25 12-26'.split(
    ' ',
  ),
  time: '16:00',
  timeZone: 'Europe/Oslo',
  since: '1999-01-04',
}

/** Returns the publication that the provider of a factory declares. */
function publicationBy(factory: string): Publication {
  const found = FEEDS[factory]?.create().publication
  if (!found) throw new Error(`no publication of ${factory}`)
  return found
}

const POLAND = publicationBy('createNbpProvider()')

const BANKS: Record<string, Publication> = {
  NORWAY,
  ...Object.fromEntries(
    `POLAND Nbp, CZECHIA Cnb, TARGET BancaDItalia, CANADA BankOfCanada, ENGLAND BankOfEngland, AUSTRALIA Rba, SWEDEN Riksbank,
    DENMARK DanmarksNationalbank, ROMANIA Bnr, HUNGARY Mnb, BRAZIL Bcb, MEXICO Banxico, TURKEY Tcmb, UKRAINE Nbu`
      .split(/,\s+/)
      .map((row) => row.split(' '))
      .map(([bank = '', name]) => [bank, publicationBy(`create${name}Provider()`)]),
  ),
}

/** Days on which the banks were closed from Monday to Friday, from the printed calendars of these years. */
const CLOSED = `
  POLAND 2010 01-01 04-05 05-03 06-03 11-01 11-11
  POLAND 2011 01-06 04-25 05-03 06-23 08-15 11-01 11-11 12-26
  POLAND 2024 01-01 04-01 05-01 05-03 05-30 08-15 11-01 11-11 12-25 12-26
  POLAND 2025 01-01 01-06 04-21 05-01 06-19 08-15 11-11 12-24 12-25 12-26
  POLAND 2026 01-01 01-06 04-06 05-01 06-04 11-11 12-24 12-25
  CZECHIA 1999 01-01 04-05 07-05 07-06 10-28 12-24
  CZECHIA 2015 01-01 04-06 05-01 05-08 07-06 09-28 10-28 11-17 12-24 12-25
  CZECHIA 2016 01-01 03-25 03-28 07-05 07-06 09-28 10-28 11-17 12-26
  CZECHIA 2024 01-01 03-29 04-01 05-01 05-08 07-05 10-28 12-24 12-25 12-26
  TARGET 1999 01-01 12-31
  TARGET 2000 04-21 04-24 05-01 12-25 12-26
  TARGET 2001 01-01 04-13 04-16 05-01 12-25 12-26 12-31
  TARGET 2026 01-01 04-03 04-06 05-01 12-25
  NORWAY 2024 01-01 03-28 03-29 04-01 05-01 05-09 05-17 05-20 12-25 12-26
  NORWAY 2026 01-01 04-02 04-03 04-06 05-01 05-14 05-25 12-25
  CANADA 2022 01-03 02-21 04-15 05-23 07-01 08-01 09-05 09-30 10-10 11-11 12-26 12-27
  CANADA 2026 01-01 02-16 04-03 05-18 07-01 08-03 09-07 09-30 10-12 11-11 12-25 12-28
  ENGLAND 2021 01-01 04-02 04-05 05-03 05-31 08-30 12-27 12-28
  ENGLAND 2022 01-03 04-15 04-18 05-02 05-30 06-02 06-03 08-29 09-19 12-26 12-27
  ENGLAND 2026 01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-28
  AUSTRALIA 2026 01-01 01-26 04-03 04-06 06-08 08-03 10-05 12-25 12-28
  SWEDEN 2026 01-01 01-06 04-03 04-06 05-01 05-14 06-19 12-24 12-25 12-31
  DENMARK 2023 04-06 04-07 04-10 05-01 05-05 05-18 05-19 05-29 06-05 12-25 12-26
  DENMARK 2026 01-01 04-02 04-03 04-06 05-01 05-14 05-15 05-25 06-05 12-24 12-25 12-31
  ROMANIA 2026 01-01 01-02 01-06 01-07 04-10 04-13 05-01 06-01 11-30 12-01 12-25
  HUNGARY 2026 01-01 04-03 04-06 05-01 05-25 08-20 10-23 12-24 12-25
  BRAZIL 2026 01-01 02-16 02-17 04-03 04-21 05-01 06-04 09-07 10-12 11-02 11-20 12-25
  MEXICO 2026 01-01 02-02 03-16 04-02 04-03 05-01 09-16 11-02 11-16 12-25`

const LISTED = CLOSED.trim()
  .split('\n')
  .map((line) => line.trim().split(' '))
  .map(([bank = '', year = '', ...days]) => ({ bank, year, days }))

/** Returns 1 (Monday) to 7, counted from a known Monday. */
function weekdayOf(day: string): number {
  return (((((Date.parse(day) - Date.parse('2024-01-01')) / 86_400_000) % 7) + 7) % 7) + 1
}

/** Returns the day `count` days later, or earlier if `count` is negative. */
function shift(day: string, count: number): string {
  return new Date(Date.parse(day) + count * 86_400_000).toISOString().slice(0, 10)
}

/** From printed tables. */
const ORTHODOX_EASTER: ReadonlyMap<string, string> = new Map(
  (
    '1999-04-11 2000-04-30 2001-04-15 2002-05-05 2003-04-27 2004-04-11 2005-05-01 2006-04-23 2007-04-08 2008-04-27 ' +
    '2009-04-19 2010-04-04 2011-04-24 2012-04-15 2013-05-05 2014-04-20 2015-04-12 2016-05-01 2017-04-16 2018-04-08 ' +
    '2019-04-28 2020-04-19 2021-05-02 2022-04-24 2023-04-16 2024-05-05 2025-04-20 2026-04-12 2027-05-02 2028-04-16 ' +
    '2029-04-08 2030-04-28'
  )
    .split(' ')
    .map((day) => [day.slice(0, 4), day]),
)

/** Returns the holidays of a year from rules in the form of `Publication.holidays`. */
function holidaysOf(rules: readonly string[], year: string): string[] {
  return rules.flatMap((rule) => {
    const [day = '', span = '-'] = rule.split(' ')
    const [from = '', until = ''] = span.split('-')
    if (year < (from || '0') || year > (until || '9')) return []
    if (/^\d{4}-/.test(day)) return day.startsWith(year) ? [day] : []
    if (day.startsWith('easter')) {
      return [shift(oracle.easterSunday(Number(year)), Number(day.slice('easter'.length)))]
    }
    if (day.startsWith('orthodox')) {
      return [shift(ORTHODOX_EASTER.get(year) ?? '', Number(day.slice('orthodox'.length)))]
    }
    const [first = '', weekday = '1234567'] = day.split(/[/@]/)
    const week = Array.from({ length: 7 }, (_each, index) => shift(`${year}-${first}`, index))
    if (day.includes('/')) return week.filter((each) => weekdayOf(each) === Number(weekday))
    return [`${year}-${first}`].filter((each) => weekday.includes(String(weekdayOf(each))))
  })
}

const YEARS = Array.from({ length: 32 }, (_, index) => String(1999 + index))
const ALL_DAYS = oracle.daysOf('1999-01-01', '2030-12-31')

/** Returns the working days since 1999, by walking over the days of each year. */
function workingDays({ holidays, weekend = [6, 7] }: Publication): Set<string> {
  const closed = new Set(YEARS.flatMap((year) => holidaysOf(holidays, year)))
  return new Set(ALL_DAYS.filter((day) => !closed.has(day) && !weekend.includes(weekdayOf(day))))
}

/** Returns the published days since 1999, from each week, month or quarter. */
function publishedDays(publication: Publication): Set<string> {
  const { frequency, weekday = 5, dated } = publication
  const working = workingDays(publication)
  const firstOf = (length: number): string[] => {
    const firsts = new Map<string, string>()
    for (const day of working) {
      const key = day.slice(0, length)
      if (!firsts.has(key)) firsts.set(key, day)
    }
    return [...firsts.values()]
  }
  const lastUpTo = (day: string): string => {
    let last = day
    while (!working.has(last) && last > '1999') last = shift(last, -1)
    return last
  }
  const published = {
    daily: () => [...working],
    weekly: () => ALL_DAYS.filter((day) => weekdayOf(day) === weekday).map(lastUpTo),
    monthly: () => firstOf(7),
    quarterly: () => firstOf(7).filter((day) => ['01', '04', '07', '10'].includes(day.slice(5, 7))),
  }[frequency]()
  if (dated !== 'next-working-day') {
    return new Set(dated === 'effect' ? published.map((day) => shift(day, 1)) : published)
  }
  const all = [...working]
  return new Set(published.map((day) => all[all.indexOf(day) + 1] ?? ''))
}

/** Without the first and the last days, whose weeks are cut off. */
const COMPARED = ALL_DAYS.slice(20, -20)

describe('the days of a publication', () => {
  it.each(LISTED)('of $bank in $year are not the holidays', ({ bank, year, days }) => {
    const { isPublished } = createCalendar(BANKS[bank] ?? publicationBy(bank))
    const weekdays = oracle
      .daysOf(`${year}-01-01`, `${year}-12-31`)
      .filter((day) => !oracle.isWeekend(day))
    expect(weekdays.filter((day) => !isPublished(day)).map((day) => day.slice(5))).toEqual(days)
  })

  const FORMS: Partial<Publication>[] = [
    {},
    { dated: 'effect' },
    { dated: 'next-working-day' },
    { frequency: 'weekly', dated: 'next-working-day' },
    { weekend: [5, 6] },
    { weekend: [] },
    { weekend: [7], dated: 'effect' },
    { frequency: 'weekly' },
    { frequency: 'weekly', weekday: 3 },
    { frequency: 'weekly', weekday: 7, weekend: [5, 6] },
    { frequency: 'weekly', weekday: 1, dated: 'effect' },
    { frequency: 'monthly' },
    { frequency: 'monthly', weekend: [5, 6] },
    { frequency: 'quarterly' },
    {
      holidays: [
        'easter',
        'easter-2 -2010',
        'easter+1 2005-2009',
        '02-29',
        '2020-03-13',
        '12-31 2004-',
      ],
    },
  ]

  // Every bank as it is, and every form with moving, Orthodox, substitute and former holidays.
  it.each(
    Object.entries(BANKS).flatMap(([bank, publication]) =>
      (/POLAND|ROMANIA|ENGLAND/.test(bank) ? FORMS : [{}]).map((form) => {
        return { bank, form, publication: { ...publication, ...form } }
      }),
    ),
  )('of $bank with $form are those of a walk from 1999 to 2030', ({ publication }) => {
    const { isPublished } = createCalendar(publication)
    const published = publishedDays(publication)
    expect(COMPARED.filter(isPublished)).toEqual(COMPARED.filter((day) => published.has(day)))
  })
})

/** Hours from UTC to the local time at noon, by the laws of each zone since 1999. */
const OFFSETS: Record<string, (day: string) => number> = {
  UTC: () => 0,
  'Asia/Kolkata': () => 5.5,
  'Asia/Tokyo': () => 9,
  'Pacific/Honolulu': () => -10,
  'Europe/Warsaw': (day) => (day >= lastSunday(day, '03') && day < lastSunday(day, '10') ? 2 : 1),
  'America/Toronto': (day) => {
    const isSummer =
      day < '2007'
        ? day >= nthSunday(day, '04', 1) && day < lastSunday(day, '10')
        : day >= nthSunday(day, '03', 2) && day < nthSunday(day, '11', 1)
    return isSummer ? -4 : -5
  },
}

const sundays = new Map<string, string[]>()

function sundaysOf(day: string, month: string): string[] {
  const key = day.slice(0, 4) + month
  const found = sundays.get(key) ?? findSundays(day, month)
  sundays.set(key, found)
  return found
}

function findSundays(day: string, month: string): string[] {
  const first = `${day.slice(0, 4)}-${month}-01`
  return oracle
    .daysOf(first, shift(first, month === '04' || month === '11' ? 29 : 30))
    .filter((each) => weekdayOf(each) === 7)
}

const nthSunday = (day: string, month: string, count: number): string =>
  sundaysOf(day, month)[count - 1] ?? ''
const lastSunday = (day: string, month: string): string => sundaysOf(day, month).at(-1) ?? ''

describe('the time of a publication', () => {
  const rows = Object.keys(OFFSETS).flatMap((timeZone) =>
    ['00:30', '09:00', '12:15', '17:00', '23:45'].map((time) => ({ timeZone, time })),
  )

  it.each(rows)('is $time in $timeZone from 1999 to 2030', ({ timeZone, time }) => {
    const { publishedAt } = createCalendar({ ...NORWAY, time, timeZone })
    const offsetOn = OFFSETS[timeZone] ?? (() => Number.NaN)
    const wrong = ALL_DAYS.filter((day) => {
      // Clocks change between 1:00 and 4:00 local time.
      const ofDay = time === '00:30' ? offsetOn(shift(day, -1)) : offsetOn(day)
      return publishedAt(day) !== Date.parse(`${day}T${time}Z`) - ofDay * 3_600_000
    })
    expect(wrong).toEqual([])
  })

  it('is the day before, where the rates are dated when they take effect', () => {
    const { publishedAt, isPublished } = createCalendar({ ...POLAND, dated: 'effect' })
    expect(publishedAt('2026-11-21')).toBe(Date.parse('2026-11-20T11:15:00Z'))
    expect(['2026-11-20', '2026-11-21', '2026-11-22'].map(isPublished)).toEqual([true, true, false])
  })

  it.each<[bank: string, ...expected: string[]]>([
    ['TURKEY', '2026-03-16T12:30', '2026-03-13T12:30'],
    ['UKRAINE', '2026-03-16T14:00', '2026-03-13T14:00'],
  ])('is the working day before, in %s', (bank, ofTuesday, ofMonday) => {
    const calendar = createCalendar(BANKS[bank] ?? publicationBy(bank))
    const { isPublished, publishedAt } = calendar
    const days = ['2026-03-13', '2026-03-14', '2026-03-15', '2026-03-16', '2026-03-17']
    expect(days.map(isPublished)).toEqual([true, false, false, true, true])
    const [monday, tuesday] = [Date.parse(`${ofMonday}Z`), Date.parse(`${ofTuesday}Z`)]
    expect([publishedAt('2026-03-17'), publishedAt('2026-03-16')]).toEqual([tuesday, monday])
    expect(newestPublishedDay(monday - 1, calendar)).toBe('2026-03-13')
    expect(newestPublishedDay(monday, calendar)).toBe('2026-03-16')
  })

  it('is 9:00 of the next banking day, at Danmarks Nationalbank', () => {
    const { publishedAt } = createCalendar(publicationBy('createDanmarksNationalbankProvider()'))
    const published = ['2026-03-30', '2026-04-01', '2026-04-10'].map(publishedAt)
    // The second is the day before Maundy Thursday, the third a Friday.
    const expected = ['2026-03-31T07:00Z', '2026-04-07T07:00Z', '2026-04-13T07:00Z'].map((time) =>
      Date.parse(time),
    )
    expect(published).toEqual(expected)
  })
})

describe('the newest and the next publication', () => {
  const zones = [
    'Pacific/Auckland',
    'Asia/Kolkata',
    'Europe/Warsaw',
    'America/Toronto',
    'Pacific/Honolulu',
  ]
  const publications = fc.record({
    timeZone: fc.constantFrom(...zones),
    time: fc.constantFrom('00:00', '08:00', '12:15', '16:30', '23:59'),
    dated: fc.constantFrom('publication' as const, 'effect' as const, 'next-working-day' as const),
    frequency: fc.constantFrom('daily' as const, 'weekly' as const, 'monthly' as const),
  })
  const instants = fc.integer({ min: Date.parse('2000-03-01'), max: Date.parse('2030-01-01') })
  const calendars = new Map<string, Calendar>()

  it('are those of a walk over the days around', () => {
    const property = fc.property(publications, instants, (form, instant) => {
      const key = JSON.stringify(form)
      const calendar = calendars.get(key) ?? createCalendar({ ...POLAND, ...form })
      calendars.set(key, calendar)
      const today = new Date(instant).toISOString().slice(0, 10)
      const around = oracle
        .daysOf(oracle.daysBefore(today, 70), shift(today, 70))
        .filter(calendar.isPublished)
      const isDue = (day: string): boolean => calendar.publishedAt(day) <= instant
      expect(newestPublishedDay(instant, calendar)).toBe(around.findLast(isDue))
      const next = around.find((day) => !isDue(day)) ?? ''
      expect(nextPublication(instant, calendar)).toBe(calendar.publishedAt(next))
    })
    fc.assert(property, { seed: 20_261_120, numRuns: 3_000 })
  })
})

describe('rates that are published later than their date', () => {
  const time = (instant: number): string => new Date(instant).toISOString().slice(0, 16)

  it('are released on Monday for the week before, or on the next working day', () => {
    const { isPublished, publishedAt } = createCalendar(publicationBy('createFredProvider()'))
    const released = oracle
      .daysOf('2026-08-24', '2026-09-20')
      .filter(isPublished)
      .map((day) => [day, time(publishedAt(day))])
    expect(released).toEqual([
      ['2026-08-28', '2026-08-31T20:15'],
      // Labor Day is a Monday.
      ['2026-09-04', '2026-09-08T20:15'],
      ['2026-09-11', '2026-09-14T20:15'],
      ['2026-09-18', '2026-09-21T20:15'],
    ])
  })

  it('are looked for when they are released', () => {
    const calendar = createCalendar(publicationBy('createFredProvider()'))
    const at = (text: string): number => Date.parse(`${text}Z`)
    expect(newestPublishedDay(at('2026-09-14T20:14'), calendar)).toBe('2026-09-04')
    expect(newestPublishedDay(at('2026-09-14T20:15'), calendar)).toBe('2026-09-11')
    expect(time(nextPublication(at('2026-09-08T20:14'), calendar))).toBe('2026-09-08T20:15')
    expect(time(nextPublication(at('2026-09-08T20:15'), calendar))).toBe('2026-09-14T20:15')
    // Late rates are requested again on the evening of their release.
    expect(time(nextRefresh('2026-09-04', at('2026-09-14T20:20'), calendar))).toBe(
      '2026-09-14T20:30',
    )
  })

  it('have the last day of a quarter', () => {
    const { isPublished, publishedAt } = createCalendar(publicationBy('createUsTreasuryProvider()'))
    const released = oracle
      .daysOf('2026-01-01', '2026-12-31')
      .filter(isPublished)
      .map((day) => [day, time(publishedAt(day))])
    expect(released).toEqual([
      ['2026-03-31', '2026-04-10T20:00'],
      ['2026-06-30', '2026-07-10T20:00'],
      // Ten days later is a Saturday.
      ['2026-09-30', '2026-10-12T20:00'],
      ['2026-12-31', '2027-01-11T21:00'],
    ])
  })
})

describe('a provider', () => {
  const providerOf = (change: object, rest: object = {}): HistoryProvider => ({
    ...createNbpProvider(),
    ...rest,
    publication: { ...POLAND, ...change },
  })

  it.each([
    ['id', 'NBP A'],
    ['id', ''],
    ['id', undefined],
    ['frequency', 'hourly'],
    ['weekend', [1, 2, 3, 4, 5, 6, 7]],
    ['weekend', [0]],
    ['weekend', 6],
    ['holidays', '01-01'],
    ['holidays', undefined],
    ['holidays', ['1-1']],
    ['holidays', ['25-12']],
    ['holidays', ['easter 1']],
    ['holidays', ['01-01 1999']],
    ['holidays', ['2026-02']],
    ['holidays', ['01-01', 5]],
    ['time', '25:00'],
    ['time', '9:00'],
    ['timeZone', 'Europe/Nowhere'],
    ['timeZone', undefined],
    ['timeZone', 5],
    ['since', '1999'],
    ['holidays', ['02-15/8']],
    ['holidays', ['02-15@']],
    ['holidays', ['orthodox 1']],
    ['holidays', ['easter/1']],
    ['dated', 'tomorrow'],
    ['delayDays', -1],
    ['delayDays', 1.5],
    ['lag', -1],
    ['lag', Number.NaN],
    ['lag', '1h'],
  ])('with the %s %j is refused at creation', (property, value) => {
    const create = (): unknown =>
      createRatesHandler({
        providers: { history: [createCnbProvider(), providerOf({ [property]: value })] },
      })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(`providers.history[1].publication.${property} must `)
    expect(create).toThrow(property === 'timeZone' ? 'IANA' : `, got ${JSON.stringify(value)}`)
  })

  it.each([0, -1, Number.NaN])('with maxDays %j is refused at creation', (maxDays) => {
    const history = providerOf({}, { maxDays })
    expect(() => createRatesHandler({ providers: { history } })).toThrow(
      /^providers\.history\.maxDays must be 1 or more, got /,
    )
  })

  it.each([
    {},
    { weekday: 7, weekend: [] },
    { weekend: [1, 2, 3, 4, 5, 6], dated: 'effect' },
    { dated: 'next-working-day' },
    { holidays: [] },
    {
      holidays: [
        'easter',
        'easter-2',
        'easter+39 -2010',
        '12-24 2025-',
        '04-30 1999-2004',
        '2026-06-05',
      ],
    },
    { holidays: ['02-15/1', '12-27@12 2001-', 'orthodox+1', 'orthodox'] },
    { dated: 'period-end', frequency: 'quarterly', delayDays: 10 },
    { lag: 0, time: '00:00', timeZone: 'UTC' },
  ])('with a publication with %j is accepted', (change) => {
    const create = (): unknown =>
      createRatesHandler({ providers: { history: providerOf(change, { maxDays: Infinity }) } })
    expect(create).not.toThrow()
  })
})
