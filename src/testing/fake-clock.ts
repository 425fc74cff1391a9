/** Where a clock starts that is told nothing else: a Wednesday in January, after the publications of the day. */
const DEFAULT_START = '2026-01-14T18:00:00Z'

/** A day, or an instant with its distance from UTC: without one it would be another instant on every machine. */
const ISO_TEXT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/

/** A clock for tests: it stands still until it is told otherwise. */
export interface FakeClock {
  /** The time that it shows, in ms since the Unix epoch. */
  (): number
  /** Goes on by `duration`, a whole number of ms, 0 or more. */
  advance(duration: number): void
  /** Shows `instant` from now on: whole ms since the Unix epoch, a `Date`, or an ISO 8601 text as `2026-01-14T18:00:00Z`. */
  set(instant: number | Date | string): void
}

/**
 * A clock for the option `now` of the handler and of `fakeProviders`, showing `start` (default `2026-01-14T18:00:00Z`).
 *
 * Advanced, it makes data due, stale and at last too old, and ends the pauses after failures of an upstream; the next
 * request finds them so. It fires no timers: the 5 seconds that an upstream has, the rest of a store that fails or a
 * `setTimeout` of your own take as long as ever. Set back, it makes nothing younger that the handler holds already, as a
 * machine's clock that is corrected would not.
 *
 * @throws {TypeError} for what is no instant, as `set` and `advance` do
 */
export function fakeClock(start: number | Date | string = DEFAULT_START): FakeClock {
  let time = toInstant(start)
  return Object.assign((): number => time, {
    advance(duration: number) {
      if (!Number.isSafeInteger(duration) || duration < 0) {
        throw new TypeError(`advance takes a whole number of ms, 0 or more, got ${duration}`)
      }
      time = toInstant(time + duration)
    },
    set(instant: number | Date | string) {
      time = toInstant(instant)
    },
  })
}

/**
 * Returns `given` in ms since the Unix epoch.
 *
 * @throws {TypeError} where it is not an instant; its message begins with `name`
 */
export function toInstant(given: number | Date | string, name = 'an instant'): number {
  const isOddText = typeof given === 'string' && !ISO_TEXT.test(given)
  const instant = isOddText ? NaN : new Date(given).getTime()
  // A `Date` cuts off fractions of a ms.
  if (Number.isNaN(instant) || (typeof given === 'number' && given !== instant)) {
    throw new TypeError(
      `${name} is whole ms since the Unix epoch, a Date, or a text as ${DEFAULT_START}, got ${String(given)}`,
    )
  }
  return instant
}
