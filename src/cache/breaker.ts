import type { Runtime } from '../runtime.ts'

/** After this many failures in a row there is a rest of so long, in ms, and then a single try. */
const FAILURES_TOLERATED = 5
const REST = 5_000

/** Leaves alone what fails again and again. */
export interface Breaker {
  /** Whether to try: while all is well, and at the end of a rest by the one who asks first. */
  mayTry(): boolean
  succeed(): void
  fail(): void
}

/** A breaker of something that has not failed yet. */
export function createBreaker(runtime: Runtime): Breaker {
  let failures = 0
  let restsUntil = 0

  /** Begins a rest, which counts only after enough failures. */
  function rest(): void {
    restsUntil = runtime.monotonic() + REST
  }

  return {
    mayTry() {
      if (failures < FAILURES_TOLERATED) return true
      if (runtime.monotonic() < restsUntil) return false
      rest()
      return true
    },
    succeed() {
      failures = 0
    },
    fail() {
      failures += 1
      rest()
    },
  }
}
