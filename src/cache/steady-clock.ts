import type { Runtime } from '../runtime.ts'

/** Tells the time in ms since the Unix epoch, and never goes back. */
export type SteadyClock = () => number

/**
 * A clock that follows the machine's own, until that one goes back: from there it counts on by the one that never jumps.
 * A clock that stands still, as a test may have it, stands still here too.
 */
export function startSteadyClock(runtime: Runtime): SteadyClock {
  let latest = runtime.now()
  let readAt = runtime.monotonic()
  return () => {
    const now = runtime.now()
    if (now < latest) return latest + runtime.monotonic() - readAt
    latest = now
    readAt = runtime.monotonic()
    return latest
  }
}
