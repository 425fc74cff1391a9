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
  /** Resolves when the event loop has had a turn: for pauses in work that takes long. */
  yieldToEventLoop(): Promise<void>
}

/** As they are now: timers that a test replaces later do not stop work that pauses. Bundles without such work leave them out. */
const startTimeout: typeof setTimeout = /* @__PURE__ */ Reflect.get(globalThis, 'setTimeout')
const startImmediate: unknown = /* @__PURE__ */ Reflect.get(globalThis, 'setImmediate')

/** Resolves when the event loop has had a turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof startImmediate === 'function') startImmediate(resolve)
    // Workers have only timers, unless they are compatible with Node.
    else startTimeout(resolve, 0)
  })
}

/** The machine's own clocks, timers and randomness, with `now` as the clock. */
export function systemRuntime(now: () => number): Runtime {
  return {
    now,
    monotonic: () => performance.now(),
    random: () => Math.random(),
    startTimer,
    yieldToEventLoop,
  }
}

/** Calls `callback` once after `delay` ms; the function returned prevents it. */
export function startTimer(callback: () => void, delay: number): () => void {
  const timer = setTimeout(callback, delay)
  return () => clearTimeout(timer)
}
