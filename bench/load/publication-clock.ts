/** The initial time of every clock, in ms since the Unix epoch: a Friday evening, after both publications. */
export const START: number = Date.UTC(2026, 10, 20, 18)

/**
 * Skipped time per period, in ms: the next refresh is due after at most a quarter of an hour if the upstream announces
 * an immediate publication.
 */
const IDLE_MS = 16 * 60_000

/** Settings of a clock that several processes share. */
export interface ClockSettings {
  /** Start of the first period, in ms since the Unix epoch. The time before belongs to it too. */
  origin: number
  /** Speed relative to real time (default 1). */
  speed?: number
  /** Length of a period in real ms. At the start of each, all loaded data are due. */
  period: number
  /** Additional ms to skip in the middle of each period, so that backoff and retries are over by then (default 0). */
  skip?: number
}

/** A clock that skips the idle time between refreshes. */
export interface PublicationClock {
  now(): number
  /** In ms since `START`, skipped time included. */
  monotonic(): number
  /** Number of the current period, from 0. */
  period(): number
  /** Start of a period (default the current one) in the clock's time, in ms since the Unix epoch. */
  periodStart(period?: number): number
  /** Real ms since the start of the period. */
  sincePeriodStart(): number
}

/** Creates a clock that shows the same time in every process of one machine. */
export function createPublicationClock(settings: ClockSettings): PublicationClock {
  const { origin, speed = 1, period: length, skip = 0 } = settings

  function periodStart(number = period()): number {
    return START + number * (length * speed + IDLE_MS + skip)
  }

  function period(): number {
    return Math.max(0, Math.floor((Date.now() - origin) / length))
  }

  function sincePeriodStart(): number {
    return Date.now() - origin - period() * length
  }

  function now(): number {
    return (
      periodStart() + sincePeriodStart() * speed + (sincePeriodStart() >= length / 2 ? skip : 0)
    )
  }

  return { now, monotonic: () => now() - START, period, periodStart, sincePeriodStart }
}
