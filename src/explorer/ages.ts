const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How far past its time an update is still on its way: the server looks for it some minutes later. */
const GRACE_MS = 10 * MINUTE_MS

/** When rates were published and when the next ones are to be, in ms since the Unix epoch. */
export interface Publication {
  updatedAt: number
  nextUpdateAt: number
}

/** A length of time, in ms, in plain words; whole units, rounded down. */
export function durationInWords(duration: number): string {
  if (duration < MINUTE_MS) return 'less than a minute'
  if (duration < HOUR_MS) return counted(Math.floor(duration / MINUTE_MS), 'minute')
  if (duration < 2 * DAY_MS) return counted(Math.floor(duration / HOUR_MS), 'hour')
  return counted(Math.floor(duration / DAY_MS), 'day')
}

/** How old what was published at `updatedAt` is at `now`. A clock that is behind makes it new, not of the future. */
export function ageInWords(updatedAt: number, now: number): string {
  return `Published ${durationInWords(now - updatedAt)} ago`
}

/** How old a publication is at `now`, and when the next one is due. */
export function publicationInWords({ updatedAt, nextUpdateAt }: Publication, now: number): string {
  const age = ageInWords(updatedAt, now)
  const left = nextUpdateAt - now
  if (left > 0) return `${age}, next update expected in ${durationInWords(left)}`
  if (left > -GRACE_MS) return `${age}, next update due now`
  return `${age}, next update overdue for ${durationInWords(-left)}`
}

/** A date, `YYYY-MM-DD`, with its day of the week. */
export function dateInWords(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(
    new Date(date),
  )
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
