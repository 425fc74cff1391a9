const DAY_MS = 86_400_000

/** Reference rates that have not been refreshed for so long, in ms, are not served: what there is of an older day is held. */
const MAX_UNKNOWN_MS = 30 * DAY_MS

/** Whether, at `now`, no newer data could change an answer at the rates of the day `asked`, which were published on `published`. */
export function isSettledOn(
  asked: string | undefined,
  published: string | undefined,
  now: number,
): boolean {
  if (asked === undefined) return false
  return asked === published || Date.parse(asked) < now - MAX_UNKNOWN_MS
}

/** `2020-02-28, the last before 2020-02-29`, or the day alone where it is the one that was asked for. */
export function daySentence(published: string, asked: string | undefined): string {
  if (asked === undefined || asked === published) return published
  return `${published}, the last before ${asked}`
}
