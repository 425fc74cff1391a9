const DAY_MS = 86_400_000

/** Overdue reference rates are served for at most this time, so the rates of an older day are already complete. */
const MAX_UNKNOWN_MS = 30 * DAY_MS

/** Returns whether newer data cannot change the rates of `requestedDay`, given that they were published on `published`. */
export function isSettledOn(
  requestedDay: string | undefined,
  published: string | undefined,
  now: number,
): boolean {
  if (requestedDay === undefined) return false
  return requestedDay === published || Date.parse(requestedDay) < now - MAX_UNKNOWN_MS
}

/** Returns `2020-02-28, the last before 2020-02-29`, or only the day if it is the requested one. */
export function daySentence(published: string, requestedDay: string | undefined): string {
  if (requestedDay === undefined || requestedDay === published) return published
  return `${published}, the last before ${requestedDay}`
}
