export const DAY_MS = 86_400_000

/** The first day of reference rates. */
export const FIRST_DAY = '1999-01-04'

/** An update is overdue only after this delay, because the server polls some minutes late. */
const GRACE_MS = 600_000

/** Formats the time of a publication, and of the next one at `now`; all in ms since the Unix epoch. */
export function publicationInWords(
  { updatedAt, nextUpdateAt }: { updatedAt: number; nextUpdateAt: number },
  now: number,
): string {
  const next = now - nextUpdateAt > GRACE_MS ? 'overdue since' : 'expected'
  return `Published ${timeInWords(updatedAt)}; next ${next} ${timeInWords(nextUpdateAt)}`
}

/** Today in UTC, `YYYY-MM-DD`. */
export function today(): string {
  return new Date().toISOString().slice(0, 10)
}

/** Formats a day, `YYYY-MM-DD`, or a time (ms since the Unix epoch) in UTC as the page writes days: `25 Nov 2026`. */
export function dayInWords(day: string | number): string {
  return formatDay(day, { day: 'numeric', month: 'short', year: 'numeric' })
}

/** Formats a time (ms since the Unix epoch) in UTC as `25 Nov 2026, 15:00 UTC`. */
export function timeInWords(time: number): string {
  return `${dayInWords(time)}, ${new Date(time).toISOString().slice(11, 16)} UTC`
}

/** Names the day of a rate, and why it is not the day `asked`: `Friday 12 Jul 2026, the last before Sunday`. */
export function rateDayInWords(day: string, asked: string): string {
  const named = `${weekdayOf(day)} ${dayInWords(day)}`
  if (day === asked || asked === '') return named
  const isNear = Date.parse(asked) - Date.parse(day) < 7 * DAY_MS
  return `${named}, the last before ${isNear ? weekdayOf(asked) : dayInWords(asked)}`
}

function weekdayOf(day: string): string {
  return formatDay(day, { weekday: 'long' })
}

export function formatDay(day: string | number, options: Intl.DateTimeFormatOptions): string {
  const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })
  // Of all short months, British English has one with four letters.
  return format.format(new Date(day)).replace(/Sept(?!e)/, 'Sep')
}
