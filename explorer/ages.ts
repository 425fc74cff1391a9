const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** An update is overdue only after this delay, because the server polls some minutes late. */
const GRACE_MS = 10 * MINUTE_MS

/** Publication times, in ms since the Unix epoch. */
export interface Publication {
  updatedAt: number
  nextUpdateAt: number
}

/** Formats a duration, in ms, as `3 hours`, rounded down to whole units. */
export function durationInWords(duration: number): string {
  if (duration < MINUTE_MS) return 'less than a minute'
  if (duration < HOUR_MS) return counted(Math.floor(duration / MINUTE_MS), 'minute')
  if (duration < 2 * DAY_MS) return counted(Math.floor(duration / HOUR_MS), 'hour')
  return counted(Math.floor(duration / DAY_MS), 'day')
}

/** Formats the age of a publication at `now`. With a clock that is behind, it is less than a minute. */
export function ageInWords(updatedAt: number, now: number): string {
  return `Published ${durationInWords(now - updatedAt)} ago`
}

/** Formats the age of a publication at `now` and the time until the next one. */
export function publicationInWords({ updatedAt, nextUpdateAt }: Publication, now: number): string {
  const age = ageInWords(updatedAt, now)
  const left = nextUpdateAt - now
  if (left > 0) return `${age}, next update expected in ${durationInWords(left)}`
  if (left > -GRACE_MS) return `${age}, next update due now`
  return `${age}, next update overdue by ${durationInWords(-left)}`
}

/** Formats a date, `YYYY-MM-DD`, with its day of the week. */
export function dateInWords(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(
    new Date(date),
  )
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
