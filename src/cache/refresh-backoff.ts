import type { Runtime } from '../runtime.ts'
import { createBackoff, requestedDelay } from './backoff.ts'

const AFTER_FAILURES = { initial: 1_000, max: 300_000 }

/** How often the store is read for the result of another process that refreshes. */
const WHILE_DELEGATED = { initial: 2_000, max: 30_000 }

/** The backoff between refreshes. */
export interface RefreshBackoff {
  /** Returns how long no refresh may start, in ms; 0 when one may. */
  remaining(): number
  /** Returns the longest delay that a failure now would cause, in ms. */
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
