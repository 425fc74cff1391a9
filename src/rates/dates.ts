/** Length of a day in UTC, in ms. */
export const DAY_MS = 86_400_000

/** A calendar day as `YYYY-MM-DD`; string comparison orders days. */
export type Day = string

/** Returns the day in UTC at `instant` (ms since the Unix epoch). */
export function toDay(instant: number): Day {
  return new Date(instant).toISOString().slice(0, 10)
}

/** Returns the start of `day` in UTC, in ms since the Unix epoch. */
export function toInstant(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`)
}

const ANY_DAY_BUT_LEAP_DAY =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)$/

/** Returns whether `text` is a real calendar day: `2026-02-30`, `2026-1-5` and `20260105` are not. */
export function isDay(text: string): text is Day {
  if (ANY_DAY_BUT_LEAP_DAY.test(text)) return true
  return /^\d{4}-02-29$/.test(text) && toDay(toInstant(text)) === text
}

/** Returns the day `count` days after `day`, or before it if `count` is negative. */
export function addDays(day: Day, count: number): Day {
  return toDay(toInstant(day) + count * DAY_MS)
}

/** Returns the day `count` months before `day`, clamped to the end of the month: one month before 31 March is 28 February. */
export function subtractMonths(day: Day, count: number): Day {
  const year = Number(day.slice(0, 4))
  const month = Number(day.slice(5, 7)) - 1 - count
  const lastOfMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return toDay(Date.UTC(year, month, Math.min(Number(day.slice(8)), lastOfMonth)))
}

/** From 1 March of the year 0. */
const DAYS_BEFORE_EPOCH = 719_468

/** Returns the days from 1970-01-01 to `day`. Without a `Date`, because histories have thousands of days. */
export function dayNumber(day: Day): number {
  const month = monthNumber(day)
  // In years that begin in March, the leap day is the last day.
  const sinceMarch = month - 2
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

/** All periods, shortest first. */
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

/** Distance of points: every published day, or the last one of each week (Monday to Sunday) or month. */
export type Interval = 'day' | 'week' | 'month'

/** All intervals, shortest first. */
export const INTERVALS: readonly Interval[] = ['day', 'week', 'month']
