import { ECB_ID, addDays, easterSunday, orthodoxEaster, toInstant, weekdayOf } from './dates.ts'
import type { Calendar, Day } from './dates.ts'

/**
 * What a history provider publishes, and when. Providers with the same `id` publish the same rates: the next one is called
 * when the previous one fails. Every other `id` widens the history.
 */
export interface Publication {
  /** Identifies the publication, such as `nbp-a`: lower-case letters, digits and `-`. */
  readonly id: string
  /** Distance of publications. Monthly and quarterly rates are dated the first working day, unless `dated` says otherwise. */
  readonly frequency: 'daily' | 'weekly' | 'monthly' | 'quarterly'
  /** Day of weekly publications, 1 (Monday) to 7; where it is a holiday, the working day before (default 5). */
  readonly weekday?: number | undefined
  /** Days of the week without a publication, 1 (Monday) to 7 (default `[6, 7]`). */
  readonly weekend?: readonly number[] | undefined
  /**
   * Other days without a publication: `MM-DD` every year, `YYYY-MM-DD` once, `easter+1` for the day after Easter Sunday,
   * `orthodox+1` for the day after that of the Orthodox churches. `02-15/1` is the first Monday from 15 February on, `12-27@12`
   * is 27 December if it is a Monday or Tuesday. A span of years may follow: `12-24 2025-` from 2025 on, `04-30 1999-2004`.
   */
  readonly holidays: readonly string[]
  /** Local time of publication, `HH:MM`. */
  readonly time: string
  /** IANA time zone of `time`, such as `Europe/Warsaw`. */
  readonly timeZone: string
  /**
   * The date of rates: the day of `publication`, the next day, on which they take `effect`, the `next-working-day`, or the last
   * day of the month or quarter, `period-end` (default `publication`).
   */
  readonly dated?: 'publication' | 'effect' | 'next-working-day' | 'period-end' | undefined
  /**
   * Days from the date of rates to their publication, which is on the first working day from then on (default 0). Not with
   * `effect` or `next-working-day`.
   */
  readonly delayDays?: number | undefined
  /** First day with rates, `YYYY-MM-DD`. */
  readonly since: string
  /** Time after which missing rates are late, in ms (default 24 hours). */
  readonly lag?: number | undefined
}

const FRIDAY = 5
const WEEKEND = [6, 7]
const MONTHS_BETWEEN = { monthly: 1, quarterly: 3 }

/** Creates the calendar of a publication; `requireProvider` checks its properties. */
export function createCalendar(rules: Publication): Calendar {
  const { frequency, weekday = FRIDAY, weekend = WEEKEND, time, dated, delayDays = 0 } = rules
  const isHoliday = createHolidays(rules.holidays)
  const instantOf = createClock(time, rules.timeZone)
  const isWorkingDay = (day: Day): boolean => !weekend.includes(weekdayOf(day)) && !isHoliday(day)

  /** Whether rates have the date `day`, or a later one if they are dated so. */
  function isRateDay(day: Day): boolean {
    if (dated === 'period-end' && frequency !== 'daily' && frequency !== 'weekly') {
      return isFirstOfPeriod(addDays(day, 1), frequency)
    }
    if (!isWorkingDay(day)) return false
    if (frequency === 'daily') return true
    if (frequency === 'weekly') {
      const due = addDays(day, (weekday - weekdayOf(day) + 7) % 7)
      return !daysFrom(addDays(day, 1), due).some(isWorkingDay)
    }
    const first = `${day.slice(0, 8)}01`
    const isFirst = !daysFrom(first, addDays(day, -1)).some(isWorkingDay)
    return isFirst && isFirstOfPeriod(first, frequency)
  }

  function workingDayFrom(date: Day, step: 1 | -1): Day {
    let day = date
    while (!isWorkingDay(day)) day = addDays(day, step)
    return day
  }

  if (dated === 'effect' || dated === 'next-working-day') {
    const isCalendarDay = dated === 'effect'
    const dayBefore = (day: Day): Day =>
      isCalendarDay ? addDays(day, -1) : workingDayFrom(addDays(day, -1), -1)
    return {
      isPublished: (day) => (isCalendarDay || isWorkingDay(day)) && isRateDay(dayBefore(day)),
      publishedAt: (day) => instantOf(dayBefore(day)),
    }
  }
  return {
    isPublished: byDay(isRateDay),
    publishedAt: (day) =>
      instantOf(delayDays === 0 ? day : workingDayFrom(addDays(day, delayDays), 1)),
  }
}

function isFirstOfPeriod(day: Day, frequency: keyof typeof MONTHS_BETWEEN): boolean {
  return day.endsWith('-01') && (Number(day.slice(5, 7)) - 1) % MONTHS_BETWEEN[frequency] === 0
}

/** Groups the providers of the same publication, in the order of the first of each. */
export function groupsOf<Provider extends { readonly publication?: Publication | undefined }>(
  providers: readonly Provider[],
): { id: string; providers: Provider[] }[] {
  const groups = new Map<string, Provider[]>()
  for (const provider of providers) {
    const id = provider.publication?.id ?? ECB_ID
    groups.set(id, [...(groups.get(id) ?? []), provider])
  }
  return Array.from(groups, ([id, members]) => ({ id, providers: members }))
}

/** How many days before a day its rates may have been published, by frequency. */
export const DAYS_BACK = { daily: 14, weekly: 28, monthly: 62, quarterly: 186 }

/** The longest range of days without a publication, by frequency. */
export const MAX_GAP_DAYS = { daily: 10, weekly: 21, monthly: 62, quarterly: 186 }

export function daysFrom(first: Day, last: Day): Day[] {
  const days: Day[] = []
  for (let day = first; day <= last; day = addDays(day, 1)) days.push(day)
  return days
}

/** A date, a day of the year with its weekdays, or Easter; and a span of years. */
const HOLIDAY =
  /^(?:(\d{4}-\d\d-\d\d)|(?:(\d\d-\d\d)(?:\/([1-7])|@([1-7]+))?|(easter|orthodox)([+-]\d{1,3})?)(?: (\d{4})?-(\d{4})?)?)$/

type IsHoliday = (day: Day) => boolean

function toRule(text: string): IsHoliday {
  const found = HOLIDAY.exec(text) ?? []
  const [, once, yearly = '', from, weekdays, easter, offset = '0'] = found
  const [first = '0000', last = '9999'] = found.slice(7)
  if (once !== undefined) return (day) => day === once
  const isOn = (day: Day): boolean => {
    const year = day.slice(0, 4)
    if (easter !== undefined) {
      const sunday = easter === 'easter' ? easterSunday(Number(year)) : orthodoxEaster(Number(year))
      return day === addDays(sunday, Number(offset))
    }
    const start = `${year}-${yearly}`
    if (from === undefined)
      return day === start && (weekdays ?? '1234567').includes(String(weekdayOf(day)))
    return weekdayOf(day) === Number(from) && day >= start && day < addDays(start, 7)
  }
  return (day) => day.slice(0, 4) >= first && day.slice(0, 4) <= last && isOn(day)
}

function createHolidays(holidays: readonly string[]): IsHoliday {
  const rules = holidays.map(toRule)
  return byDay((day) => rules.some((isHoliday) => isHoliday(day)))
}

/** Remembers the value of each day. */
function byDay<Value>(compute: (day: Day) => Value): (day: Day) => Value {
  const known = new Map<Day, Value>()
  return (day) => {
    const value = known.get(day) ?? compute(day)
    known.set(day, value)
    return value
  }
}

/** Returns a function that converts `time` of a day in `timeZone` to ms since the Unix epoch. */
function createClock(time: string, timeZone: string): (day: Day) => number {
  const timeOfDay = Date.parse(`1970-01-01T${time}Z`)
  const local = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const offsetAt = (instant: number): number => {
    const parts = local.formatToParts(instant).map(({ type, value }) => [type, Number(value)])
    const { year, month, day, hour, minute } = Object.fromEntries(parts)
    return Date.UTC(year, month - 1, day, hour, minute) - instant
  }
  return byDay((day) => {
    const asUtc = toInstant(day) + timeOfDay
    // Clocks change at night, so that the offset a few hours earlier is the same.
    return asUtc - offsetAt(asUtc - offsetAt(asUtc))
  })
}
