import type { Runtime } from '../runtime.ts'

const MAX_JITTER = 0.5

/** Keeps `2 ** failures` finite; enough doublings to reach any `max`. */
const MAX_DOUBLINGS = 30

const MIN_REQUESTED_MS = 1_000
const MAX_REQUESTED_MS = 6 * 3_600_000

const NO_WAIT = { until: 0, untilMonotonic: 0 }

/** The first delay in ms, and the longest that doubling after each consecutive failure leads to. */
export interface BackoffOptions {
  initial: number
  max: number
}

/** Delays between retries, doubled with every failure in a row. */
export interface Backoff {
  /** Returns how long the current delay still lasts, in ms; 0 when a retry is allowed. */
  remaining(): number
  /** Returns the longest delay that a failure now would cause, in ms. */
  nextDelay(): number
  /** Starts a delay with up to 50 % jitter, or of `atLeast` ms if that is longer. */
  recordFailure(atLeast?: number): void
  /** Lengthens the next delay without starting one: for a failure of another process. */
  countFailure(): void
  reset(): void
}

/** Creates a backoff without a current delay. */
export function createBackoff(runtime: Runtime, { initial, max }: BackoffOptions): Backoff {
  let failures = 0
  let wait = NO_WAIT

  function delayWith(jitter: number): number {
    return Math.min(initial * 2 ** Math.min(failures, MAX_DOUBLINGS), max) * (1 + jitter)
  }

  return {
    remaining() {
      // The delay ends when either clock says so: the other one was set, or is stopped by a test.
      const remaining = Math.min(
        wait.until - runtime.now(),
        wait.untilMonotonic - runtime.monotonic(),
      )
      return Math.max(0, remaining)
    },
    nextDelay: () => delayWith(MAX_JITTER),
    recordFailure(atLeast = 0) {
      const delay = Math.max(delayWith(MAX_JITTER * runtime.random()), atLeast)
      failures += 1
      wait = {
        until: runtime.now() + delay,
        untilMonotonic: runtime.monotonic() + delay,
      }
    },
    countFailure() {
      failures += 1
    },
    reset() {
      failures = 0
      wait = NO_WAIT
    },
  }
}

/** Returns `retryAfterMs` of `error`, limited to 1 s to 6 h, in ms; 0 where the error has none. */
export function requestedDelay(error: unknown): number {
  const retryAfterMs = readRetryAfterMs(error)
  if (typeof retryAfterMs !== 'number' || Number.isNaN(retryAfterMs)) return 0
  return Math.min(Math.max(retryAfterMs, MIN_REQUESTED_MS), MAX_REQUESTED_MS)
}

function readRetryAfterMs(error: unknown): unknown {
  try {
    return Object(error).retryAfterMs
  } catch {
    // A provider may throw any value, also one with a getter that throws.
    return undefined
  }
}
