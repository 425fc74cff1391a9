import type { Runtime } from '../runtime.ts'

/** Up to this share of a pause is added at random. */
const JITTER = 0.5

/** Enough to get from the first pause to any longest one, and no more than a number can hold. */
const MOST_DOUBLINGS = 30

/** Bounds of what an error may ask for, in ms. */
const LEAST_REQUEST = 1_000
const MOST_REQUEST = 6 * 3_600_000

const NO_PAUSE = { until: 0, untilMonotonic: 0 }

/** How long pauses are, in ms: the first, and the longest that doubling with every failure in a row leads to. */
export interface Pauses {
  first: number
  longest: number
}

/** Keeps what failed from being tried again at once. */
export interface Cooldown {
  /** How long the pause still lasts, in ms; 0 when it may be tried. */
  remaining(): number
  /** How long the pause after a failure now would be at most, in ms. */
  next(): number
  /** Starts a pause, up to half as long again at random, of `atLeast` ms if that is longer. */
  fail(atLeast?: number): void
  /** Counts a failure of somebody else's, which makes the next pause longer and starts none. */
  count(): void
  /** Ends the pause and forgets the failures. */
  succeed(): void
}

/** A cooldown that starts without a pause. */
export function createCooldown(runtime: Runtime, { first, longest }: Pauses): Cooldown {
  let failures = 0
  let pause = NO_PAUSE

  function length(jitter: number): number {
    return Math.min(first * 2 ** Math.min(failures, MOST_DOUBLINGS), longest) * (1 + jitter)
  }

  return {
    remaining() {
      // Whichever clock says that it is over is right: the other one has been set, or stands still in a test.
      const remaining = Math.min(
        pause.until - runtime.now(),
        pause.untilMonotonic - runtime.monotonic(),
      )
      return Math.max(0, remaining)
    },
    next: () => length(JITTER),
    fail(atLeast = 0) {
      const chosen = Math.max(length(JITTER * runtime.random()), atLeast)
      failures += 1
      pause = {
        until: runtime.now() + chosen,
        untilMonotonic: runtime.monotonic() + chosen,
      }
    },
    count() {
      failures += 1
    },
    succeed() {
      failures = 0
      pause = NO_PAUSE
    },
  }
}

/** The pause that `error` asks for with its `retryAfterMs`: from a second to six hours, in ms, or 0 where it asks for none. */
export function requestedPause(error: unknown): number {
  const retryAfterMs = readRetryAfterMs(error)
  if (typeof retryAfterMs !== 'number' || Number.isNaN(retryAfterMs)) return 0
  return Math.min(Math.max(retryAfterMs, LEAST_REQUEST), MOST_REQUEST)
}

function readRetryAfterMs(error: unknown): unknown {
  try {
    return Object(error).retryAfterMs
  } catch {
    // Whatever was thrown is somebody else's, down to its properties.
    return undefined
  }
}
