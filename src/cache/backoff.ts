import type { Runtime } from '../async.ts'

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
  const retryAfterMs = propertyOf(error, 'retryAfterMs')
  if (typeof retryAfterMs !== 'number' || Number.isNaN(retryAfterMs)) return 0
  return Math.min(Math.max(retryAfterMs, MIN_REQUESTED_MS), MAX_REQUESTED_MS)
}

/** A provider may throw any value, also one with a getter that throws. */
export function propertyOf(thrown: unknown, name: string): unknown {
  try {
    return Object(thrown)[name]
  } catch {
    return undefined
  }
}

const FAILURE_THRESHOLD = 5
const OPEN_MS = 5_000

/** Suspends calls that keep failing. Opens after 5 consecutive failures; half-open after 5 s. */
export interface CircuitBreaker {
  /** Returns whether to call: always while closed; for the first caller when half-open. */
  isCallAllowed(): boolean
  recordSuccess(): void
  recordFailure(): void
}

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

const AFTER_FAILURES = { initial: 1_000, max: 300_000 }

/** How often the store is read for the result of another process that refreshes. */
const WHILE_DELEGATED = { initial: 2_000, max: 30_000 }

export interface RefreshBackoff {
  /** Returns how long no refresh may start, in ms; 0 when one may. */
  remaining(): number
  nextDelay(): number
  reset(): void
  /** Starts a delay after a failure, at least as long as `error` requests. */
  recordFailure(error: unknown): void
  /** Starts a delay while another process refreshes. */
  recordDelegation(): void
}

/** Creates a backoff without a current delay; `onBackoff` receives the length of every delay, in ms. */
export function createRefreshBackoff(
  runtime: Runtime,
  onBackoff: (length: number) => void,
): RefreshBackoff {
  const failures = createBackoff(runtime, AFTER_FAILURES)
  const delegations = createBackoff(runtime, WHILE_DELEGATED)

  function remaining(): number {
    return Math.max(failures.remaining(), delegations.remaining())
  }

  return {
    remaining,
    nextDelay: failures.nextDelay,
    reset() {
      failures.reset()
      delegations.reset()
    },
    recordFailure(error) {
      failures.recordFailure(requestedDelay(error))
      onBackoff(remaining())
    },
    recordDelegation() {
      delegations.recordFailure()
      // Until one process succeeds, the leases of the whole fleet get longer, whichever process holds the next one.
      failures.countFailure()
      onBackoff(remaining())
    },
  }
}
