import type { Runtime } from '../runtime.ts'

/** Up to this share of a pause is added at random. */
const JITTER = 0.5

/** Enough to get from the first pause to any longest one, and no more than a number can hold. */
const MOST_DOUBLINGS = 30

/** Bounds of what an error may ask for, in ms. */
const LEAST_REQUEST = 1_000
const MOST_REQUEST = 6 * 3_600_000

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
  /** Ends the pause and forgets the failures. */
  succeed(): void
}

/** A cooldown that starts without a pause. */
export function createCooldown(runtime: Runtime, { first, longest }: Pauses): Cooldown {
  let failures = 0
  let pause = { until: 0, untilMonotonic: 0 }

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
    succeed() {
      failures = 0
      pause = { until: 0, untilMonotonic: 0 }
    },
  }
}

/** The pause that `error` asks for with its `retryAfterMs`: from a second to six hours, in ms, or 0 where it asks for none. */
export function requestedPause(error: unknown): number {
  const { retryAfterMs }: { retryAfterMs?: unknown } = Object(error)
  if (typeof retryAfterMs !== 'number' || Number.isNaN(retryAfterMs)) return 0
  return Math.min(Math.max(retryAfterMs, LEAST_REQUEST), MOST_REQUEST)
}
