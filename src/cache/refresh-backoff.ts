import type { Runtime } from '../runtime.ts'
import { createBackoff, requestedDelay } from './backoff.ts'

const AFTER_FAILURES = { initial: 1_000, max: 300_000 }

/** While another process does the work, its result is looked for this often. */
const WHILE_DELEGATED = { initial: 2_000, max: 30_000 }

/** How soon work is tried again. */
export interface RefreshBackoff {
  /** How long it must not be, in ms; 0 when it may be. */
  remaining(): number
  /** How long the pause after a failure now would be at most, in ms. */
  nextDelay(): number
  reset(): void
  /** It failed with `error`, which may ask for a pause. */
  recordFailure(error: unknown): void
  /** Another process is at it. */
  recordDelegation(): void
}

/** The pace of work that has not been tried yet; `onPause` is told of every pause, by its length in ms. */
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
      // While nobody has succeeded, the claims of a whole fleet get longer, whoever has the next one.
      failures.countFailure()
      onBackoff(remaining())
    },
  }
}
