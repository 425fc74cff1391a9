import type { Runtime } from '../runtime.ts'
import { createCooldown, requestedPause } from './cooldown.ts'

const AFTER_FAILURES = { first: 1_000, longest: 300_000 }

/** While another process does the work, its result is looked for this often. */
const WHILE_ELSEWHERE = { first: 2_000, longest: 30_000 }

/** How soon work is tried again. */
export interface Pacing {
  /** How long it must not be, in ms; 0 when it may be. */
  pause(): number
  /** How long the pause after a failure now would be at most, in ms. */
  nextPause(): number
  succeed(): void
  /** It failed with `error`, which may ask for a pause. */
  fail(error: unknown): void
  /** Another process is at it. */
  wait(): void
}

/** The pace of work that has not been tried yet; `onPause` is told of every pause, by its length in ms. */
export function createPacing(runtime: Runtime, onPause: (length: number) => void): Pacing {
  const cooldown = createCooldown(runtime, AFTER_FAILURES)
  const patience = createCooldown(runtime, WHILE_ELSEWHERE)

  function pause(): number {
    return Math.max(cooldown.remaining(), patience.remaining())
  }

  return {
    pause,
    nextPause: cooldown.next,
    succeed() {
      cooldown.succeed()
      patience.succeed()
    },
    fail(error) {
      cooldown.fail(requestedPause(error))
      onPause(pause())
    },
    wait() {
      patience.fail()
      // While nobody has succeeded, the claims of a whole fleet get longer, whoever has the next one.
      cooldown.count()
      onPause(pause())
    },
  }
}
