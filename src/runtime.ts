/** What the service takes from the machine it runs on, so that a test can stand in for all of it. */
export interface Runtime {
  /** The clock, ms since the Unix epoch; it may jump. */
  now(): number
  /** A clock that never jumps, in ms; its zero has no meaning. */
  monotonic(): number
  /** A number from 0 up to, not including, 1. */
  random(): number
  /** Calls `callback` once after `delay` ms; the function returned prevents it. */
  startTimer(callback: () => void, delay: number): () => void
}

/** The machine's own clocks, timers and randomness, with `now` as the clock. */
export function systemRuntime(now: () => number): Runtime {
  return {
    now,
    monotonic: () => performance.now(),
    random: () => Math.random(),
    startTimer(callback, delay) {
      const timer = setTimeout(callback, delay)
      return () => clearTimeout(timer)
    },
  }
}
