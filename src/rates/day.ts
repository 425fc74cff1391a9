/** A day in UTC, in ms. */
export const DAY_MS = 86_400_000

/** A calendar day as `YYYY-MM-DD`; days compare in order as text. */
export type Day = string

/** The day in UTC at `instant` (ms since the Unix epoch). */
export function toDay(instant: number): Day {
  return new Date(instant).toISOString().slice(0, 10)
}

/** Midnight UTC at the start of `day`, in ms since the Unix epoch. */
export function toInstant(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`)
}

/** Days that are there in every year: 28 of every month, and as many more as it has. */
const EVERY_YEAR =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)$/

/** Whether `text` is a real calendar day: `2026-02-30`, `2026-1-5` and `20260105` are not. */
export function isDay(text: string): text is Day {
  if (EVERY_YEAR.test(text)) return true
  return /^\d{4}-02-29$/.test(text) && toDay(toInstant(text)) === text
}

/** The day `count` days after `day`, or before it when `count` is negative. */
export function addDays(day: Day, count: number): Day {
  return toDay(toInstant(day) + count * DAY_MS)
}

/** The day `count` months before `day`, clamped to the month's last: 31 March less one month is 28 February. */
export function subtractMonths(day: Day, count: number): Day {
  const year = Number(day.slice(0, 4))
  const month = Number(day.slice(5, 7)) - 1 - count
  const lastOfMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return toDay(Date.UTC(year, month, Math.min(Number(day.slice(8)), lastOfMonth)))
}

/** Midnight of 1 March of the year 0, in days before the Unix epoch. */
const DAYS_BEFORE_EPOCH = 719_468

/** Days from 1970-01-01 to `day`, without a `Date`: histories need it of thousands of days. */
export function dayNumber(day: Day): number {
  const month = monthNumber(day)
  // Years that begin in March have their leap day at their end.
  const sinceMarch = month - 2
  const year = Math.floor(sinceMarch / 12)
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400)
  const dayOfYear = Math.floor((153 * (sinceMarch - year * 12) + 2) / 5) + digits(day, 8, 10) - 1
  return year * 365 + leapDays + dayOfYear - DAYS_BEFORE_EPOCH
}

/** Months from January of the year 0 to that of `day`. */
export function monthNumber(day: Day): number {
  return digits(day, 0, 4) * 12 + digits(day, 5, 7) - 1
}

/** The number that `day` has from `start` to `end`. */
function digits(day: Day, start: number, end: number): number {
  let number = 0
  for (let index = start; index < end; index += 1) number = number * 10 + day.charCodeAt(index) - 48
  return number
}
