import type { Runtime } from '../runtime.ts'

/** Tells the time in ms since the Unix epoch, and never goes back. */
export type SteadyClock = () => number

/**
 * A clock that goes on with the machine's own; over a step back of that one it goes on with the one that never jumps. A
 * clock that stands still, as a test may have it, stands still here too.
 */
export function startSteadyClock(runtime: Runtime): SteadyClock {
  let time = runtime.now()
  let read = { now: time, monotonic: runtime.monotonic() }
  return () => {
    const last = read
    read = { now: runtime.now(), monotonic: runtime.monotonic() }
    const isSetBack = read.now < last.now
    time += isSetBack ? read.monotonic - last.monotonic : read.now - last.now
    return time
  }
}
