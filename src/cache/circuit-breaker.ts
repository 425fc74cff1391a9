import type { Runtime } from '../runtime.ts'

/** After this many failures in a row there is a rest of so long, in ms, and then a single try. */
const FAILURE_THRESHOLD = 5
const OPEN_MS = 5_000

/** Leaves alone what fails again and again. */
export interface CircuitBreaker {
  /** Whether to try: while all is well, and at the end of a rest by the one who asks first. */
  isCallAllowed(): boolean
  recordSuccess(): void
  recordFailure(): void
}

/** A breaker of something that has not failed yet. */
export function createCircuitBreaker(runtime: Runtime): CircuitBreaker {
  let failures = 0
  let restsUntil = 0

  /** Begins a rest, which counts only after enough failures. */
  function backoff(): void {
    restsUntil = runtime.monotonic() + OPEN_MS
  }

  return {
    isCallAllowed() {
      if (failures < FAILURE_THRESHOLD) return true
      if (runtime.monotonic() < restsUntil) return false
      backoff()
      return true
    },
    recordSuccess() {
      failures = 0
    },
    recordFailure() {
      failures += 1
      backoff()
    },
  }
}
