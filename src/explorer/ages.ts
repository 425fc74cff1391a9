const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How far past its time an update is still on its way: the server looks for it some minutes later. */
const GRACE = 10 * MINUTE

/** When rates were published and when the next ones are to be, in ms since the Unix epoch. */
export interface Publication {
  updatedAt: number
  nextUpdateAt: number
}

/** A length of time, in ms, in plain words; whole units, rounded down. */
export function durationInWords(duration: number): string {
  if (duration < MINUTE) return 'less than a minute'
  if (duration < HOUR) return counted(Math.floor(duration / MINUTE), 'minute')
  if (duration < 2 * DAY) return counted(Math.floor(duration / HOUR), 'hour')
  return counted(Math.floor(duration / DAY), 'day')
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
  if (left > -GRACE) return `${age}, next update due now`
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
