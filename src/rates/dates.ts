export const DAY_MS = 86_400_000

/** @internal A calendar day as `YYYY-MM-DD`; string comparison orders days. */
export type Day = string

/** Returns the day in UTC at `instant` (ms since the Unix epoch). */
export function toDay(instant: number): Day {
  const date = new Date(instant)
  const year = date.getUTCFullYear()
  // Other years need zeros or a sign. `toISOString` takes five times longer.
  if (!(year >= 1000 && year <= 9999)) return date.toISOString().slice(0, 10)
  return `${year}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

/** Returns the start of `day` in UTC, in ms since the Unix epoch. */
export function toInstant(day: Day): number {
  return Date.parse(day)
}

/** Returns whether `text` is a real calendar day: `2026-02-30`, `2026-1-5` and `20260105` are not. */
export function isDay(text: string): text is Day {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(text)) return false
  return text.slice(8) <= '28' || toDay(dayNumber(text) * DAY_MS) === text
}

export function addDays(day: Day, count: number): Day {
  return count === 0 ? day : toDay((dayNumber(day) + count) * DAY_MS)
}

/** Returns the day of the week, 1 (Monday) to 7. */
export function weekdayOf(day: Day): number {
  // Day 0 was a Thursday.
  return ((((dayNumber(day) + 3) % 7) + 7) % 7) + 1
}

/** Days from `start` to `end`; both are included. */
export interface DaySpan {
  start: Day
  end: Day
}

export function piecesOf({ start, end }: DaySpan, maxDays: number): DaySpan[] {
  if (maxDays === Infinity) return start > end ? [] : [{ start, end }]
  const pieces: DaySpan[] = []
  for (let from = start; from <= end; from = addDays(from, maxDays)) {
    const last = addDays(from, maxDays - 1)
    pieces.push({ start: from, end: last < end ? last : end })
  }
  return pieces
}

/** Returns the day `count` months before `day`, clamped to the end of the month: one month before 31 March is 28 February. */
export function subtractMonths(day: Day, count: number): Day {
  const last = lastOfMonth(monthNumber(day) - count)
  return last.slice(8) < day.slice(8) ? last : `${last.slice(0, 8)}${day.slice(8)}`
}

/** `month` is a `monthNumber`: `Date.UTC` would read the years 0 to 99 as 1900 to 1999. */
function lastOfMonth(month: number): Day {
  return toDay(Date.UTC(2000, month + 1 - 2000 * 12, 0))
}

/** From 1 March of the year 0. */
const DAYS_BEFORE_EPOCH = 719_468

/** Returns the days from 1970-01-01 to `day`. By `Date.UTC`, intervals of a history since 1999 would take half as long again. */
export function dayNumber(day: Day): number {
  // In years that begin in March, the leap day is the last day.
  const sinceMarch = monthNumber(day) - 2
  const year = Math.floor(sinceMarch / 12)
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400)
  const dayOfYear = Math.floor((153 * (sinceMarch - year * 12) + 2) / 5) + digits(day, 8, 10) - 1
  return year * 365 + leapDays + dayOfYear - DAYS_BEFORE_EPOCH
}

/** Returns the months from January of the year 0 to the month of `day`. */
export function monthNumber(day: Day): number {
  return digits(day, 0, 4) * 12 + digits(day, 5, 7) - 1
}

function digits(day: Day, start: number, end: number): number {
  let number = 0
  for (let index = start; index < end; index += 1) number = number * 10 + day.charCodeAt(index) - 48
  return number
}

/** Length of a history window up to the newest published day, in weeks, months or years. */
export type Period = '1W' | '1M' | '3M' | '6M' | '1Y' | '5Y'

export const PERIODS: readonly Period[] = ['1W', '1M', '3M', '6M', '1Y', '5Y']

const MONTHS: Record<Exclude<Period, '1W'>, number> = {
  '1M': 1,
  '3M': 3,
  '6M': 6,
  '1Y': 12,
  '5Y': 60,
}

/** Returns the first day of the window of `period` that ends on `end`; the window includes both. */
export function periodStart(end: Day, period: Period): Day {
  return period === '1W' ? addDays(end, -7) : subtractMonths(end, MONTHS[period])
}

/** Distance of points: every published day, or one point for each week (Monday to Sunday), month, quarter or year. */
export type Interval = 'day' | 'week' | 'month' | 'quarter' | 'year'

export const INTERVALS: readonly Interval[] = ['day', 'week', 'month', 'quarter', 'year']

/**
 * Which published day has the rates for a day: `on-or-before` that day or else the last one before it, `exact` only that day,
 * `next` that day or else the next one, `previous-business-day` the last one strictly before, `period-end` the last one of its
 * month, so far as published, or of its quarter where the source is quarterly. Days more than 14 days away are not used, 28 for
 * weekly sources, 62 for monthly and 186 for quarterly ones. The last two, and `next`, wait for days that are not published yet.
 */
export type DateRule = 'on-or-before' | 'exact' | 'next' | 'previous-business-day' | 'period-end'

/** All rules, the default first. */
export const DATE_RULES: readonly DateRule[] = [
  'on-or-before',
  'exact',
  'next',
  'previous-business-day',
  'period-end',
]

/** At most five days in a row have no publication (Easter), so 14 days always have one. */
export const MAX_DAYS_AWAY = 14

/** A range of days, both included. */
export interface DayRange {
  first: Day
  last: Day
}

/** How many days before a day its rates may have been published (default 14), and the months of `period-end` (default 1). */
export interface Reach {
  daysBack?: number | undefined
  periodMonths?: number | undefined
}

/** On the day `today`, days after both are left out, even if they are published. */
export function daysByRule(
  date: Day,
  rule: DateRule,
  today: Day,
  { daysBack = MAX_DAYS_AWAY, periodMonths }: Reach = {},
): DayRange {
  const newest = date > today ? date : today
  switch (rule) {
    case 'exact':
      return { first: date, last: date }
    case 'previous-business-day':
      return { first: addDays(date, -daysBack), last: addDays(date, -1) }
    case 'next':
      return { first: date, last: earlierDay(addDays(date, daysBack), newest) }
    case 'period-end': {
      const { first, last } = periodOf(date, periodMonths)
      return { first, last: earlierDay(last, newest) }
    }
    default:
      return { first: addDays(date, -daysBack), last: date }
  }
}

/** Returns the month of `day`, or its period of several `months` of a year. */
export function periodOf(day: Day, months = 1): DayRange {
  const month = monthNumber(day)
  const start = month - (month % months)
  return { first: addDays(lastOfMonth(start - 1), 1), last: lastOfMonth(start + months - 1) }
}

export function earlierDay(one: Day, other: Day): Day {
  return one < other ? one : other
}

const HOUR_MS = 3_600_000

const LATE_RETRY_MS = 600_000

/** First day with reference rates of the European Central Bank. */
export const FIRST_REFERENCE_DAY: Day = '1999-01-04'

/** Currencies that the European Central Bank no longer quotes: the current history of five years may lack them. */
export const DISCONTINUED_CODES: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ 'BGN CYP EEK HRK LTL LVL MTL ROL RUB SIT SKK TRL'.split(' '),
)

/** Working hours of a bank, relative to its publication: from 8:00 to 22:00 for one at 16:00. */
const MORNING_MS = 8 * HOUR_MS
const EVENING_MS = 6 * HOUR_MS

/**
 * Returns whether the European Central Bank publishes reference rates on `day`: every weekday except the closing days of the
 * TARGET system (1 January, Good Friday, Easter Monday, 1 May, 25 and 26 December). In 1999 it was open over Easter. It was
 * closed on the last day of 1999 and of 2001, before changeovers.
 *
 * @see https://www.ecb.europa.eu/paym/target/target2/profuse/calendar/html/index.en.html
 */
export function isTargetDay(day: Day): boolean {
  if (weekdayOf(day) > 5) return false
  const monthAndDay = day.slice(5)
  if (['01-01', '05-01', '12-25', '12-26'].includes(monthAndDay)) return false
  if (day === '1999-12-31' || day === '2001-12-31') return false
  if (day.startsWith('1999')) return true
  const easter = easterSunday(Number(day.slice(0, 4)))
  return day !== addDays(easter, -2) && day !== addDays(easter, 1)
}

/** Returns when the reference rates of `day` are due: 16:00 in Frankfurt, in ms since the Unix epoch. */
export function publicationInstant(day: Day): number {
  return dayNumber(day) * DAY_MS + (isSummerTime(day) ? 14 : 15) * HOUR_MS
}

export interface Calendar {
  isPublished(day: Day): boolean
  /** In ms since the Unix epoch: on that day, up to a week before, or later. */
  publishedAt(day: Day): number
}

/** Id of the rates of the European Central Bank, the publication of providers that declare no other. */
export const ECB_ID = 'ecb'

export const ECB_CALENDAR: Calendar = { isPublished: isTargetDay, publishedAt: publicationInstant }

/** How many days ahead of their publication rates may be dated: the next working day, after holidays. */
export const MAX_DAYS_AHEAD = 7

/** Returns the newest day whose rates are due at `instant` (ms since the Unix epoch). */
export function newestPublishedDay(instant: number, calendar: Calendar = ECB_CALENDAR): Day {
  let day = addDays(toDay(instant), MAX_DAYS_AHEAD)
  while (!calendar.isPublished(day) || calendar.publishedAt(day) > instant) day = addDays(day, -1)
  return day
}

/** Returns when the next rates after `instant` are due, both in ms since the Unix epoch. */
export function nextPublication(instant: number, calendar: Calendar = ECB_CALENDAR): number {
  let day = addDays(newestPublishedDay(instant, calendar), 1)
  while (!calendar.isPublished(day)) day = addDays(day, 1)
  return calendar.publishedAt(day)
}

/**
 * Returns when to request new rates after a request at `instant` that returned `newest` as the newest day. That is when the
 * next rates are due. While due rates are missing, it is after a quarter of their delay, but at least 10 minutes, and only
 * from 8 hours before to 6 hours after the time of publication on days with one. All instants are in ms since the Unix epoch.
 */
export function nextRefresh(
  newest: Day,
  instant: number,
  calendar: Calendar = ECB_CALENDAR,
): number {
  const next = nextPublication(instant, calendar)
  const missing = newestPublishedDay(instant, calendar)
  if (newest >= missing) return next
  const late = instant - calendar.publishedAt(missing)
  const again = instant + Math.max(LATE_RETRY_MS, late / 4)
  return Math.min(isOfficeTime(again, calendar) ? again : nextMorning(again, calendar), next)
}

function isOfficeTime(instant: number, calendar: Calendar): boolean {
  const last = calendar.publishedAt(newestPublishedDay(instant, calendar))
  const next = nextPublication(instant, calendar)
  return instant - last < EVENING_MS || next - instant <= MORNING_MS
}

function nextMorning(instant: number, calendar: Calendar): number {
  return nextPublication(instant + MORNING_MS, calendar) - MORNING_MS
}

/** From the last Sunday of March to the last Sunday of October (Directive 2000/84/EC), months with 31 days. */
function isSummerTime(day: Day): boolean {
  const month = digits(day, 5, 7)
  if (month !== 3 && month !== 10) return month > 3 && month < 10
  const isFromLastSunday = digits(day, 8, 10) - (weekdayOf(day) % 7) > 31 - 7
  return isFromLastSunday === (month === 3)
}

/** Returns Easter Sunday by the anonymous Gregorian algorithm (Meeus, Astronomical Algorithms, ch. 8). */
export function easterSunday(year: number): Day {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const d = Math.floor(b / 4)
  const e = b % 4
  const f = Math.floor((b + 8) / 25)
  const g = Math.floor((b - f + 1) / 3)
  const h = (19 * a + b - d - g + 15) % 30
  const i = Math.floor(c / 4)
  const k = c % 4
  const l = (32 + 2 * e + 2 * i - h - k) % 7
  const m = Math.floor((a + 11 * h + 22 * l) / 451)
  const month = Math.floor((h + l - 7 * m + 114) / 31)
  const dayOfMonth = ((h + l - 7 * m + 114) % 31) + 1
  return toDay(Date.UTC(year, month - 1, dayOfMonth))
}

/** Days from a date of the Julian calendar to the same date of the Gregorian, from 1900 to 2099. */
const JULIAN_DAYS = 13

/** Returns Easter Sunday of the Orthodox churches, from 1900 to 2099, by the Julian algorithm (Meeus, Astronomical Algorithms, ch. 8). */
export function orthodoxEaster(year: number): Day {
  const d = (19 * (year % 19) + 15) % 30
  const e = (2 * (year % 4) + 4 * (year % 7) - d + 34) % 7
  const month = Math.floor((d + e + 114) / 31)
  const dayOfMonth = ((d + e + 114) % 31) + 1
  return toDay(Date.UTC(year, month - 1, dayOfMonth + JULIAN_DAYS))
}
