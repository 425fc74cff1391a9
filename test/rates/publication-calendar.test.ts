import { createRatesHandler } from '../../src/index.ts'
import type { HistoryProvider, Publication } from '../../src/index.ts'
import { createCnbProvider, createNbpProvider } from '../../src/providers/index.ts'
import { createCalendar } from '../../src/rates/calendar.ts'
import { newestPublishedDay, nextPublication, nextRefresh } from '../../src/rates/dates.ts'
import type { Calendar } from '../../src/rates/dates.ts'
import { addDays } from '../fixtures/dates.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { rowsOf } from '../fixtures/rows.ts'
import * as oracle from '../oracle.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

function publicationBy(name: string): Publication {
  const found = FEEDS[`create${name}Provider()`]?.create().publication
  if (!found) throw new Error(`no publication of ${name}`)
  return found
}

const BANKS: Record<string, Publication> = Object.fromEntries(
  rowsOf(
    `NORWAY NorgesBank|POLAND Nbp|CZECHIA Cnb|TARGET BancaDItalia|CANADA BankOfCanada|ENGLAND BankOfEngland|AUSTRALIA Rba
    SWEDEN Riksbank|DENMARK DanmarksNationalbank|ROMANIA Bnr|HUNGARY Mnb|BRAZIL Bcb|MEXICO Banxico|TURKEY Tcmb|UKRAINE Nbu`,
  ).map(([bank = '', name = '']) => [bank, publicationBy(name)]),
)
const POLAND = publicationBy('Nbp')

/** Days on which the banks were closed from Monday to Friday, from the printed calendars of these years. */
const CLOSED = `
  POLAND 2010 01-01 04-05 05-03 06-03 11-01 11-11 | POLAND 2011 01-06 04-25 05-03 06-23 08-15 11-01 11-11 12-26
  POLAND 2024 01-01 04-01 05-01 05-03 05-30 08-15 11-01 11-11 12-25 12-26 | POLAND 2025 01-01 01-06 04-21 05-01 06-19 08-15 11-11 12-24 12-25 12-26
  POLAND 2026 01-01 01-06 04-06 05-01 06-04 11-11 12-24 12-25 | CZECHIA 1999 01-01 04-05 07-05 07-06 10-28 12-24
  CZECHIA 2015 01-01 04-06 05-01 05-08 07-06 09-28 10-28 11-17 12-24 12-25 | CZECHIA 2016 01-01 03-25 03-28 07-05 07-06 09-28 10-28 11-17 12-26
  CZECHIA 2024 01-01 03-29 04-01 05-01 05-08 07-05 10-28 12-24 12-25 12-26 | TARGET 1999 01-01 12-31 | TARGET 2000 04-21 04-24 05-01 12-25 12-26
  TARGET 2001 01-01 04-13 04-16 05-01 12-25 12-26 12-31 | TARGET 2026 01-01 04-03 04-06 05-01 12-25
  NORWAY 2024 01-01 03-28 03-29 04-01 05-01 05-09 05-17 05-20 12-25 12-26 | NORWAY 2026 01-01 04-02 04-03 04-06 05-01 05-14 05-25 12-25
  CANADA 2022 01-03 02-21 04-15 05-23 07-01 08-01 09-05 09-30 10-10 11-11 12-26 12-27
  CANADA 2026 01-01 02-16 04-03 05-18 07-01 08-03 09-07 09-30 10-12 11-11 12-25 12-28 | ENGLAND 2021 01-01 04-02 04-05 05-03 05-31 08-30 12-27 12-28
  ENGLAND 2022 01-03 04-15 04-18 05-02 05-30 06-02 06-03 08-29 09-19 12-26 12-27 | ENGLAND 2026 01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-28
  AUSTRALIA 2026 01-01 01-26 04-03 04-06 06-08 08-03 10-05 12-25 12-28 | SWEDEN 2026 01-01 01-06 04-03 04-06 05-01 05-14 06-19 12-24 12-25 12-31
  DENMARK 2023 04-06 04-07 04-10 05-01 05-05 05-18 05-19 05-29 06-05 12-25 12-26
  DENMARK 2026 01-01 04-02 04-03 04-06 05-01 05-14 05-15 05-25 06-05 12-24 12-25 12-31
  ROMANIA 2026 01-01 01-02 01-06 01-07 04-10 04-13 05-01 06-01 11-30 12-01 12-25 | HUNGARY 2026 01-01 04-03 04-06 05-01 05-25 08-20 10-23 12-24 12-25
  BRAZIL 2026 01-01 02-16 02-17 04-03 04-21 05-01 06-04 09-07 10-12 11-02 11-20 12-25
  MEXICO 2026 01-01 02-02 03-16 04-02 04-03 05-01 09-16 11-02 11-16 12-25`

const weekdayOf = (day: string): number => new Date(day).getUTCDay() || 7

/** From printed tables. */
const ORTHODOX_EASTER =
  '1999-04-11 2000-04-30 2001-04-15 2002-05-05 2003-04-27 2004-04-11 2005-05-01 2006-04-23 2007-04-08 2008-04-27 ' +
  '2009-04-19 2010-04-04 2011-04-24 2012-04-15 2013-05-05 2014-04-20 2015-04-12 2016-05-01 2017-04-16 2018-04-08 ' +
  '2019-04-28 2020-04-19 2021-05-02 2022-04-24 2023-04-16 2024-05-05 2025-04-20 2026-04-12 2027-05-02 2028-04-16 ' +
  '2029-04-08 2030-04-28'

/** Returns the holidays of a year from rules in the form of `Publication.holidays`. */
function holidaysOf(rules: readonly string[], year: string): string[] {
  return rules.flatMap((rule) => {
    const [day = '', span = '-'] = rule.split(' ')
    const [from = '', until = ''] = span.split('-')
    if (year < (from || '0') || year > (until || '9')) return []
    if (/^\d{4}-/.test(day)) return day.startsWith(year) ? [day] : []
    const [, feast, shift = '0'] = /^(easter|orthodox)(.*)$/.exec(day) ?? []
    const orthodox = ORTHODOX_EASTER.split(' ').find((each) => each.startsWith(year)) ?? ''
    if (feast !== undefined) {
      const sunday = feast === 'easter' ? oracle.easterSunday(Number(year)) : orthodox
      return [addDays(sunday, Number(shift))]
    }
    const [first = '', weekday = '1234567'] = day.split(/[/@]/)
    const week = Array.from({ length: 7 }, (_each, index) => addDays(`${year}-${first}`, index))
    if (day.includes('/')) return week.filter((each) => weekdayOf(each) === Number(weekday))
    const [own = ''] = week
    return own.endsWith(first) && weekday.includes(String(weekdayOf(own))) ? [own] : []
  })
}

const YEARS = Array.from({ length: 32 }, (_, index) => String(1999 + index))
const ALL_DAYS = oracle.daysOf('1999-01-01', '2030-12-31')

/** Returns the published days since 1999, by walking over the days of each week, month or quarter. */
function publishedDays(publication: Publication): Set<string> {
  const { frequency, weekday = 5, dated, holidays, weekend = [6, 7] } = publication
  const closed = new Set(YEARS.flatMap((year) => holidaysOf(holidays, year)))
  const all = ALL_DAYS.filter((day) => !closed.has(day) && !weekend.includes(weekdayOf(day)))
  const working = new Set(all)
  const firsts = [...Map.groupBy(all, (day) => day.slice(0, 7)).values()].map(([day = '']) => day)
  const lastUpTo = (day: string): string =>
    working.has(day) || day < '1999-01-04' ? day : lastUpTo(addDays(day, -1))
  const published = {
    daily: () => all,
    weekly: () => ALL_DAYS.filter((day) => weekdayOf(day) === weekday).map(lastUpTo),
    monthly: () => firsts,
    quarterly: () => firsts.filter((day) => /-(01|04|07|10)-/.test(day)),
  }[frequency]()
  if (dated === 'effect') return new Set(published.map((day) => addDays(day, 1)))
  if (dated !== 'next-working-day') return new Set(published)
  return new Set(published.map((day) => all[all.indexOf(day) + 1] ?? ''))
}

/** Without the first and the last days, whose weeks are cut off. */
const COMPARED = ALL_DAYS.slice(20, -20)

describe('the days of a publication', () => {
  it.each(rowsOf(CLOSED))('of %s in %s are not the holidays', (bank, year, ...days) => {
    const { isPublished } = createCalendar(BANKS[bank ?? ''] ?? POLAND)
    const weekdays = oracle
      .daysOf(`${year}-01-01`, `${year}-12-31`)
      .filter((day) => !oracle.isWeekend(day))
    expect(weekdays.filter((day) => !isPublished(day)).map((day) => day.slice(5))).toEqual(days)
  })

  /** Forms with the moving, Orthodox and substitute holidays of one bank, and with others. */
  const FORMS: Partial<Publication>[] = [
    { dated: 'effect' },
    { dated: 'next-working-day' },
    { frequency: 'weekly', dated: 'next-working-day' },
    { weekend: [5, 6] },
    { weekend: [7], dated: 'effect' },
    { frequency: 'weekly', weekday: 3 },
    { frequency: 'weekly', weekday: 7, weekend: [5, 6] },
    { frequency: 'weekly', weekday: 1, dated: 'effect' },
    { frequency: 'monthly' },
    { frequency: 'monthly', weekend: [5, 6] },
    { frequency: 'quarterly' },
    {
      weekend: [],
      holidays: 'easter|easter-2 -2010|easter+1 2005-2009|02-29|2020-03-13|12-31 2004-'.split('|'),
    },
  ]

  it.each([
    ...Object.entries(BANKS),
    ...FORMS.map((form): [string, Publication] => {
      const holidays = [
        ...publicationBy('Bnr').holidays,
        ...publicationBy('BankOfEngland').holidays,
      ]
      return [JSON.stringify(form), { ...POLAND, holidays, ...form }]
    }),
  ])('of %s are those of a walk from 1999 to 2030', (_, publication) => {
    const { isPublished } = createCalendar(publication)
    const published = publishedDays(publication)
    expect(COMPARED.filter(isPublished)).toEqual(COMPARED.filter((day) => published.has(day)))
  })
})

const time = (instant: number): string => new Date(instant).toISOString().slice(0, 16)

describe('the time of a publication', () => {
  // Clocks change on the last Sundays of March and October; in Toronto, until 2006 on the first of April, later in March and November.
  const TIMES = `UTC 2026-07-01 12:15 2026-07-01T12:15 | Asia/Kolkata 2026-01-01 23:45 2026-01-01T18:15 | Pacific/Honolulu 2026-07-01 17:00 2026-07-02T03:00
    Europe/Warsaw 2026-03-28 12:15 2026-03-28T11:15 | Europe/Warsaw 2026-03-29 12:15 2026-03-29T10:15 | Europe/Warsaw 2026-03-29 00:30 2026-03-28T23:30
    Europe/Warsaw 2026-03-30 00:30 2026-03-29T22:30 | Europe/Warsaw 2026-10-24 12:15 2026-10-24T10:15 | Europe/Warsaw 2026-10-25 12:15 2026-10-25T11:15
    Europe/Warsaw 2026-10-25 00:30 2026-10-24T22:30 | America/Toronto 2006-03-31 23:45 2006-04-01T04:45 | America/Toronto 2006-04-02 23:45 2006-04-03T03:45
    America/Toronto 2006-10-29 23:45 2006-10-30T04:45 | America/Toronto 2007-03-10 23:45 2007-03-11T04:45 | America/Toronto 2007-03-11 23:45 2007-03-12T03:45
    America/Toronto 2007-11-03 23:45 2007-11-04T03:45 | America/Toronto 2007-11-04 23:45 2007-11-05T04:45`

  it.each(rowsOf(TIMES))(
    'in %s on %s at %s is %s',
    (timeZone = '', day = '', of = '', expected) => {
      const { publishedAt } = createCalendar({ ...POLAND, time: of, timeZone })
      expect(time(publishedAt(day))).toBe(expected)
    },
  )

  it('is the day before, where the rates are dated when they take effect', () => {
    const { publishedAt, isPublished } = createCalendar({ ...POLAND, dated: 'effect' })
    expect(publishedAt('2026-11-21')).toBe(Date.parse('2026-11-20T11:15:00Z'))
    expect(['2026-11-20', '2026-11-21', '2026-11-22'].map(isPublished)).toEqual([true, true, false])
  })

  it.each(rowsOf('TURKEY 12:30 | UKRAINE 14:00'))(
    'is the working day before, in %s',
    (bank = '', of) => {
      const calendar = createCalendar(BANKS[bank] ?? POLAND)
      const days = oracle.daysOf('2026-03-13', '2026-03-17').filter(calendar.isPublished)
      expect(days).toEqual(['2026-03-13', '2026-03-16', '2026-03-17'])
      const times = [`2026-03-13T${of}`, `2026-03-16T${of}`]
      expect(days.slice(1).map((day) => time(calendar.publishedAt(day)))).toEqual(times)
      const monday = Date.parse(`${times[0]}Z`)
      expect(newestPublishedDay(monday - 1, calendar)).toBe('2026-03-13')
      expect(newestPublishedDay(monday, calendar)).toBe('2026-03-16')
    },
  )

  // 9:00 of the next banking day; Monday for the week before, or the next working day; ten days after a quarter, or on Monday.
  const LATER = `DanmarksNationalbank 2026-03-30 2026-03-31T07:00 2026-03-31 2026-04-01T07:00 2026-04-01 2026-04-07T07:00 2026-04-07 2026-04-08T07:00
    Fred 2026-08-28 2026-08-31T20:15 2026-09-04 2026-09-08T20:15 2026-09-11 2026-09-14T20:15 2026-09-18 2026-09-21T20:15
    UsTreasury 2026-03-31 2026-04-10T20:00 2026-06-30 2026-07-10T20:00 2026-09-30 2026-10-12T20:00 2026-12-31 2027-01-11T21:00`

  it.each(rowsOf(LATER))('is later than the date at %s', (name = '', ...expected) => {
    const { isPublished, publishedAt } = createCalendar(publicationBy(name))
    const days = oracle.daysOf(expected[0] ?? '', expected.at(-2) ?? '').filter(isPublished)
    expect(days.flatMap((day) => [day, time(publishedAt(day))])).toEqual(expected)
  })

  it('is when late rates are looked for, and requested again on the evening of their release', () => {
    const calendar = createCalendar(publicationBy('Fred'))
    const at = (text: string): number => Date.parse(`${text}Z`)
    expect(newestPublishedDay(at('2026-09-14T20:14'), calendar)).toBe('2026-09-04')
    expect(newestPublishedDay(at('2026-09-14T20:15'), calendar)).toBe('2026-09-11')
    expect(time(nextPublication(at('2026-09-08T20:14'), calendar))).toBe('2026-09-08T20:15')
    expect(time(nextPublication(at('2026-09-08T20:15'), calendar))).toBe('2026-09-14T20:15')
    const refresh = nextRefresh('2026-09-04', at('2026-09-14T20:20'), calendar)
    expect(time(refresh)).toBe('2026-09-14T20:30')
  })
})

it('the newest and the next publication are those of a walk over the days around', () => {
  const zones = 'Pacific/Auckland Asia/Kolkata Europe/Warsaw America/Toronto Pacific/Honolulu'
  const publications = fc.record({
    timeZone: fc.constantFrom(...zones.split(' ')),
    time: fc.constantFrom('00:00', '08:00', '12:15', '16:30', '23:59'),
    dated: fc.constantFrom('publication' as const, 'effect' as const, 'next-working-day' as const),
    frequency: fc.constantFrom('daily' as const, 'weekly' as const, 'monthly' as const),
  })
  const instants = fc.integer({ min: Date.parse('2000-03-01'), max: Date.parse('2030-01-01') })
  const calendars = new Map<string, Calendar>()
  const property = fc.property(publications, instants, (form, instant) => {
    const key = JSON.stringify(form)
    const calendar = calendars.get(key) ?? createCalendar({ ...POLAND, ...form })
    calendars.set(key, calendar)
    const today = new Date(instant).toISOString().slice(0, 10)
    const around = oracle
      .daysOf(addDays(today, -70), addDays(today, 70))
      .filter(calendar.isPublished)
    const isDue = (day: string): boolean => calendar.publishedAt(day) <= instant
    expect(newestPublishedDay(instant, calendar)).toBe(around.findLast(isDue))
    const next = around.find((day) => !isDue(day)) ?? ''
    expect(nextPublication(instant, calendar)).toBe(calendar.publishedAt(next))
  })
  fc.assert(property, { seed: 20_261_120, numRuns: 1_000 })
})

describe('a provider', () => {
  const providerOf = (change: object, rest: object = {}): HistoryProvider => ({
    ...createNbpProvider(),
    ...rest,
    publication: { ...POLAND, ...change },
  })

  const REFUSED = `id "NBP A"|id ""|id|frequency "hourly"|weekend [1,2,3,4,5,6,7]|weekend [0]|weekend 6|holidays "01-01"|holidays
    holidays ["1-1"]|holidays ["25-12"]|holidays ["easter 1"]|holidays ["01-01 1999"]|holidays ["2026-02"]|holidays ["01-01",5]
    time "25:00"|time "9:00"|timeZone "Europe/Nowhere"|timeZone|timeZone 5|since "1999"|holidays ["02-15/8"]|holidays ["02-15@"]
    holidays ["orthodox 1"]|holidays ["easter/1"]|dated "tomorrow"|delayDays -1|delayDays 1.5|lag -1|lag NaN|lag "1h"`

  it.each(
    REFUSED.split(/ *[|\n] */).map((row) => [row.replace(/ .*/, ''), row.replace(/^\w+ ?/, '')]),
  )('with the %s %s is refused at creation', (property = '', text = '') => {
    const value = text === 'NaN' ? NaN : text === '' ? undefined : JSON.parse(text)
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
    { weekday: 7, weekend: [] },
    { weekend: [1, 2, 3, 4, 5, 6], dated: 'effect', holidays: [] },
    { dated: 'period-end', frequency: 'quarterly', delayDays: 10 },
    { lag: 0, time: '00:00', timeZone: 'UTC' },
  ])('with a publication with %j is accepted', (change) => {
    const history = providerOf(change, { maxDays: Infinity })
    expect(() => createRatesHandler({ providers: { history } })).not.toThrow()
  })
})
