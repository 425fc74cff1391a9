const MINUTE_MS = 60_000

const UNITS = [
  { name: 'day', length: 1_440 * MINUTE_MS },
  { name: 'hour', length: 60 * MINUTE_MS },
  { name: 'minute', length: MINUTE_MS },
]

/** Formats an age in ms: `3 hours ago`. */
export function toAge(age: number): string {
  const unit = UNITS.find(({ length }) => age >= length)
  if (!unit) return 'just now'
  const count = Math.floor(age / unit.length)
  return `${count} ${unit.name}${count === 1 ? '' : 's'} ago`
}

/** Formats ms since the Unix epoch: `2026-11-20 19:00 UTC`. */
export function toMinute(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
