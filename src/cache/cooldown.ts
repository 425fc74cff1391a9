import type { Runtime } from '../runtime.ts'

/** In ms; every failure in a row doubles it, up to the longest. */
const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 300_000

/** Up to this share of a pause is added at random. */
const JITTER = 0.5

/** Keeps a source that failed from being asked again at once. */
export interface Cooldown {
  /** How long the pause still lasts, in ms; 0 when the source may be asked. */
  remaining(): number
  /** Starts a pause: 1, 2, 4 … 300 s with every failure in a row, up to half of that added at random. */
  fail(): void
  /** Ends the pause and forgets the failures. */
  succeed(): void
}

/** A cooldown that starts without a pause. */
export function createCooldown(runtime: Runtime): Cooldown {
  let failures = 0
  let pause = { until: 0, untilMonotonic: 0 }
  return {
    remaining() {
      // Whichever clock says that it is over is right: the other one has been set, or stands still in a test.
      const remaining = Math.min(
        pause.until - runtime.now(),
        pause.untilMonotonic - runtime.monotonic(),
      )
      return Math.max(0, remaining)
    },
    fail() {
      const length = Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE)
      const jittered = length * (1 + JITTER * runtime.random())
      failures += 1
      pause = {
        until: runtime.now() + jittered,
        untilMonotonic: runtime.monotonic() + jittered,
      }
    },
    succeed() {
      failures = 0
      pause = { until: 0, untilMonotonic: 0 }
    },
  }
}
