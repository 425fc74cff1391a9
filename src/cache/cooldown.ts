import type { Runtime } from '../runtime.ts'
import { thisMoment, timeSince } from './moment.ts'
import type { Moment } from './moment.ts'

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
  let pause: { since: Moment; until: number } | undefined
  return {
    remaining: () => (pause ? Math.max(0, pause.until - timeSince(pause.since, runtime)) : 0),
    fail() {
      const length = Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE)
      failures += 1
      const until = runtime.now() + length * (1 + JITTER * runtime.random())
      pause = { since: thisMoment(runtime), until }
    },
    succeed() {
      failures = 0
      pause = undefined
    },
  }
}
