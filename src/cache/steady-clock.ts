import type { Runtime } from '../runtime.ts'

/** Returns the time in ms since the Unix epoch; never goes back. */
export type SteadyClock = () => number

/**
 * Starts a clock that follows the system clock. When the system clock is set back, it advances by the monotonic clock
 * instead. It stops where the system clock stops, as in a test.
 */
export function startSteadyClock(runtime: Runtime): SteadyClock {
  let time = runtime.now()
  let current = { now: time, monotonic: runtime.monotonic() }
  return () => {
    const previous = current
    current = { now: runtime.now(), monotonic: runtime.monotonic() }
    const isSetBack = current.now < previous.now
    time += isSetBack ? current.monotonic - previous.monotonic : current.now - previous.now
    return time
  }
}
