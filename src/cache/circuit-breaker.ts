import type { Runtime } from '../runtime.ts'

const FAILURE_THRESHOLD = 5
const OPEN_MS = 5_000

/** Suspends calls that keep failing. Opens after 5 consecutive failures; half-open after 5 s. */
export interface CircuitBreaker {
  /** Returns whether to call: always while closed; for the first caller when half-open. */
  isCallAllowed(): boolean
  recordSuccess(): void
  recordFailure(): void
}

/** Creates a closed circuit breaker. */
export function createCircuitBreaker(runtime: Runtime): CircuitBreaker {
  let failures = 0
  let openUntil = 0

  function delayNextCall(): void {
    openUntil = runtime.monotonic() + OPEN_MS
  }

  return {
    isCallAllowed() {
      if (failures < FAILURE_THRESHOLD) return true
      if (runtime.monotonic() < openUntil) return false
      delayNextCall()
      return true
    },
    recordSuccess() {
      failures = 0
    },
    recordFailure() {
      failures += 1
      delayNextCall()
    },
  }
}
