import type { Runtime } from '../runtime.ts'

/** Up to this share of a pause is added at random. */
const JITTER = 0.5

/** Enough to get from the first pause to any longest one, and no more than a number can hold. */
const MAX_DOUBLINGS = 30

/** Bounds of what an error may ask for, in ms. */
const MIN_REQUESTED_MS = 1_000
const MAX_REQUESTED_MS = 6 * 3_600_000

const NO_WAIT = { until: 0, untilMonotonic: 0 }

/** How long pauses are, in ms: the first, and the longest that doubling with every failure in a row leads to. */
export interface BackoffOptions {
  initial: number
  max: number
}

/** Keeps what failed from being tried again at once. */
export interface Backoff {
  /** How long the pause still lasts, in ms; 0 when it may be tried. */
  remaining(): number
  /** How long the pause after a failure now would be at most, in ms. */
  nextDelay(): number
  /** Starts a pause, up to half as long again at random, of `atLeast` ms if that is longer. */
  recordFailure(atLeast?: number): void
  /** Counts a failure of somebody else's, which makes the next pause longer and starts none. */
  countFailure(): void
  /** Ends the pause and forgets the failures. */
  reset(): void
}

/** A cooldown that starts without a pause. */
export function createBackoff(runtime: Runtime, { initial, max }: BackoffOptions): Backoff {
  let failures = 0
  let wait = NO_WAIT

  function delayWith(jitter: number): number {
    return Math.min(initial * 2 ** Math.min(failures, MAX_DOUBLINGS), max) * (1 + jitter)
  }

  return {
    remaining() {
      // Whichever clock says that it is over is right: the other one has been set, or stands still in a test.
      const remaining = Math.min(
        wait.until - runtime.now(),
        wait.untilMonotonic - runtime.monotonic(),
      )
      return Math.max(0, remaining)
    },
    nextDelay: () => delayWith(JITTER),
    recordFailure(atLeast = 0) {
      const chosen = Math.max(delayWith(JITTER * runtime.random()), atLeast)
      failures += 1
      wait = {
        until: runtime.now() + chosen,
        untilMonotonic: runtime.monotonic() + chosen,
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

/** The pause that `error` asks for with its `retryAfterMs`: from a second to six hours, in ms, or 0 where it asks for none. */
export function requestedDelay(error: unknown): number {
  const retryAfterMs = readRetryAfterMs(error)
  if (typeof retryAfterMs !== 'number' || Number.isNaN(retryAfterMs)) return 0
  return Math.min(Math.max(retryAfterMs, MIN_REQUESTED_MS), MAX_REQUESTED_MS)
}

function readRetryAfterMs(error: unknown): unknown {
  try {
    return Object(error).retryAfterMs
  } catch {
    // Whatever was thrown is somebody else's, down to its properties.
    return undefined
  }
}
