/** A Wednesday, after the publications of the day. */
const DEFAULT_START = '2026-01-14T18:00:00Z'

/** A day, or a time with an offset from UTC, without which it would depend on the time zone of the machine. */
const ISO_TEXT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/

/** A clock for tests, which stands still until `advance` or `set` moves it. */
export interface FakeClock {
  /** Returns the current time of the clock, in ms since the Unix epoch. */
  (): number
  /**
   * Moves the clock forward by `duration` ms.
   *
   * @throws {TypeError} unless `duration` is a non-negative integer
   */
  advance(duration: number): void
  /**
   * Sets the clock to an integer in ms since the Unix epoch, a `Date`, or an ISO 8601 string such as `2026-01-14T18:00:00Z`.
   *
   * @throws {TypeError} for anything else
   */
  set(instant: number | Date | string): void
}

/**
 * Creates a clock for the option `now` of the handler and of `fakeProviders`, set to `start` (default
 * `2026-01-14T18:00:00Z`).
 *
 * Advancing the clock makes data due, stale and finally too old, and ends the backoff after upstream failures; the next
 * request sees the change. The clock fires no timers: the 5 s timeout of an upstream, the circuit breaker of a store and
 * your own `setTimeout` take real time. Setting the clock back makes no cached data younger, like a correction of the system
 * clock.
 *
 * @throws {TypeError} if `start` is not an instant
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { fakeClock, fakeProviders } from 'ratesmith/testing'
 *
 * const now = fakeClock('2026-11-20T18:00:00Z')
 * const handler = createRatesHandler({ now, providers: fakeProviders() })
 * now.advance(86_400_000) // one day
 * await handler.refresh()
 * ```
 */
export function fakeClock(start: number | Date | string = DEFAULT_START): FakeClock {
  let time = toInstant(start)
  return Object.assign((): number => time, {
    advance(duration: number) {
      if (!Number.isSafeInteger(duration) || duration < 0) {
        throw new TypeError(`duration must be a non-negative integer in ms, got ${duration}`)
      }
      time = toInstant(time + duration)
    },
    set(instant: number | Date | string) {
      time = toInstant(instant)
    },
  })
}

/** @throws {TypeError} if it is not an instant; the message begins with `name` */
export function toInstant(given: number | Date | string, name = 'the time'): number {
  const isOddText = typeof given === 'string' && !ISO_TEXT.test(given)
  const instant = isOddText ? NaN : new Date(given).getTime()
  // Rejects fractions of a ms, which a `Date` drops.
  if (Number.isNaN(instant) || (typeof given === 'number' && given !== instant)) {
    throw new TypeError(
      `${name} must be an integer in ms since the Unix epoch, a Date or a string such as ${DEFAULT_START}, got ${String(given)}`,
    )
  }
  return instant
}
