import { addDays, easterSunday, toInstant } from './dates.ts'
import type { Calendar, Day } from './dates.ts'

/**
 * What a history provider publishes, and when. Providers with the same `id` publish the same rates: the next one is called
 * when the previous one fails. Every other `id` widens the history.
 */
export interface Publication {
  /** Identifies the publication, such as `nbp-a`: lower-case letters, digits and `-`. */
  readonly id: string
  /** Distance of publications. Monthly and quarterly rates are dated the first working day. */
  readonly frequency: 'daily' | 'weekly' | 'monthly' | 'quarterly'
  /** Day of weekly publications, 1 (Monday) to 7; where it is a holiday, the working day before (default 5). */
  readonly weekday?: number | undefined
  /** Days of the week without a publication, 1 (Monday) to 7 (default `[6, 7]`). */
  readonly weekend?: readonly number[] | undefined
  /**
   * Other days without a publication: `MM-DD` every year, `YYYY-MM-DD` once, `easter+1` for the day after Easter Sunday. A
   * span of years may follow: `12-24 2025-` from 2025 on, `04-30 1999-2004`.
   */
  readonly holidays: readonly string[]
  /** Local time of publication, `HH:MM`. */
  readonly time: string
  /** IANA time zone of `time`, such as `Europe/Warsaw`. */
  readonly timeZone: string
  /** Whether rates have the date of their publication, or of the next day, on which they take effect (default `publication`). */
  readonly dated?: 'publication' | 'effect' | undefined
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
  const { frequency, weekday = FRIDAY, weekend = WEEKEND, time, dated = 'publication' } = rules
  const isHoliday = createHolidays(rules.holidays)
  const instantOf = createClock(time, rules.timeZone)
  const isWorkingDay = (day: Day): boolean => !weekend.includes(weekdayOf(day)) && !isHoliday(day)

  /** Whether something is published on `day`, in local time. */
  function isPublicationDay(day: Day): boolean {
    if (!isWorkingDay(day)) return false
    if (frequency === 'daily') return true
    if (frequency === 'weekly') {
      const due = addDays(day, (weekday - weekdayOf(day) + 7) % 7)
      return !daysFrom(addDays(day, 1), due).some(isWorkingDay)
    }
    const first = `${day.slice(0, 8)}01`
    const isFirst = !daysFrom(first, addDays(day, -1)).some(isWorkingDay)
    return isFirst && (Number(day.slice(5, 7)) - 1) % MONTHS_BETWEEN[frequency] === 0
  }

  if (dated === 'publication') return { isPublished: isPublicationDay, publishedAt: instantOf }
  return {
    isPublished: (day) => isPublicationDay(addDays(day, -1)),
    publishedAt: (day) => instantOf(addDays(day, -1)),
  }
}

/** Returns the days from `first` to `last`; none if `last` is earlier. */
export function daysFrom(first: Day, last: Day): Day[] {
  const days: Day[] = []
  for (let day = first; day <= last; day = addDays(day, 1)) days.push(day)
  return days
}

function weekdayOf(day: Day): number {
  return new Date(toInstant(day)).getUTCDay() || 7
}

/** `MM-DD`, `YYYY-MM-DD` or `easter`, and a span of years. */
const HOLIDAY =
  /^(?:(\d{4}-\d\d-\d\d)|(?:(\d\d-\d\d)|easter([+-]\d{1,3})?)(?: (\d{4})?-(\d{4})?)?)$/

type IsHoliday = (day: Day) => boolean

function createHolidays(holidays: readonly string[]): IsHoliday {
  const rules = holidays.map((text): IsHoliday => {
    const [, once, yearly, fromEaster = '0', first = '0000', last = '9999'] =
      HOLIDAY.exec(text) ?? []
    if (once !== undefined) return (day) => day === once
    const isIn = (year: string): boolean => year >= first && year <= last
    if (yearly !== undefined) return (day) => day.endsWith(`-${yearly}`) && isIn(day.slice(0, 4))
    return (day) =>
      isIn(day.slice(0, 4)) &&
      day === addDays(easterSunday(Number(day.slice(0, 4))), Number(fromEaster))
  })
  const known = new Map<Day, boolean>()
  return (day) => {
    const found = known.get(day)
    if (found !== undefined) return found
    const isOne = rules.some((isHoliday) => isHoliday(day))
    known.set(day, isOne)
    return isOne
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
  const known = new Map<Day, number>()
  return (day) => {
    const found = known.get(day)
    if (found !== undefined) return found
    const asUtc = toInstant(day) + timeOfDay
    // Clocks change at night, so that the offset a few hours earlier is the same.
    const instant = asUtc - offsetAt(asUtc - offsetAt(asUtc))
    known.set(day, instant)
    return instant
  }
}
