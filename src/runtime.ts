/** Clocks, timers and randomness, which tests replace. */
export interface Runtime {
  /** Returns the time in ms since the Unix epoch; it may jump. */
  now(): number
  /** Returns the time in ms since an arbitrary moment; it never jumps. */
  monotonic(): number
  /** Returns a number from 0 to 1, without 1. */
  random(): number
  /** Calls `callback` once after `delay` ms; returns a function that cancels the timer. */
  startTimer(callback: () => void, delay: number): () => void
  /** Resolves after one turn of the event loop; divides long work into slices. */
  yieldToEventLoop(): Promise<void>
}

// Read at load time, so that fake timers of a test do not stop work in slices. Marked as pure, so that bundles without such work drop them.
const startTimeout: typeof setTimeout = /* @__PURE__ */ Reflect.get(globalThis, 'setTimeout')
const startImmediate: unknown = /* @__PURE__ */ Reflect.get(globalThis, 'setImmediate')

/** Resolves after one turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof startImmediate === 'function') startImmediate(resolve)
    // Workers without Node compatibility have no setImmediate.
    else startTimeout(resolve, 0)
  })
}

/** Returns the runtime of the platform, with `now` as the clock. */
export function systemRuntime(now: () => number): Runtime {
  return {
    now,
    monotonic: () => performance.now(),
    random: () => Math.random(),
    startTimer,
    yieldToEventLoop,
  }
}

/** Calls `callback` once after `delay` ms; returns a function that cancels the timer. */
export function startTimer(callback: () => void, delay: number): () => void {
  const timer = setTimeout(callback, delay)
  return () => clearTimeout(timer)
}
