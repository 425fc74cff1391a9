export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export type VirtualRuntime = ReturnType<typeof virtualRuntime>

/** Creates a runtime whose clock starts at `start` (ms since the Unix epoch) and whose random numbers are all `random`. */
export function virtualRuntime(start: number, random = 0) {
  let monotonic = 0
  let offset = start
  const timers = new Set<{ at: number; callback: () => void }>()

  return {
    now: () => offset + monotonic,
    monotonic: () => monotonic,
    random: () => random,
    startTimer(callback: () => void, delay: number) {
      const timer = { at: monotonic + delay, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    /** Work in slices continues in the same turn. */
    yieldToEventLoop: () => Promise.resolve(),
    /** Advances both clocks by `duration` ms and fires the timers that become due, in order. */
    async advance(duration: number) {
      const until = monotonic + duration
      await settled()
      for (;;) {
        const [next] = [...timers].sort((one, other) => one.at - other.at)
        if (!next || next.at > until) break
        timers.delete(next)
        monotonic = Math.max(monotonic, next.at)
        next.callback()
        await settled()
      }
      monotonic = until
      await settled()
    },
    /** Sets only the system clock, as an administrator or a resumed machine does. */
    setClock(instant: number) {
      offset = instant - monotonic
    },
    timers: () => timers.size,
    /** Returns the time until the next timer fires, in ms. */
    untilNextTimer: () => Math.max(0, Math.min(...[...timers].map(({ at }) => at)) - monotonic),
  }
}

/** Resolves when all pending promise callbacks have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Counts turns of the event loop while `work` runs. */
export async function turnsDuring<T>(work: (turns: () => number) => Promise<T>) {
  let turns = 0
  const tick = (): void => {
    turns += 1
    next = setImmediate(tick)
  }
  let next = setImmediate(tick)
  const result = await work(() => turns).finally(() => clearImmediate(next))
  return { result, turns }
}

/** Lets time pass until `work` ends. */
export async function finish<Result>(
  runtime: VirtualRuntime,
  work: Promise<Result>,
): Promise<Result> {
  const state = { isDone: false }
  const end = (): void => void (state.isDone = true)
  work.then(end, end)
  await settled()
  while (!state.isDone) await runtime.advance(50)
  return work
}

/** Runs `work` and returns the number of listeners on signals that it added and did not remove. */
export async function listenersLeftBy(work: () => Promise<void>): Promise<number> {
  const { addEventListener, removeEventListener } = EventTarget.prototype
  const listening = new Map<EventTarget, Set<unknown>>()
  type Arguments = Parameters<typeof addEventListener>
  Object.assign(EventTarget.prototype, {
    addEventListener(this: EventTarget, ...args: Arguments) {
      const [type, listener] = args
      const listeners = listening.get(this) ?? new Set()
      if (this instanceof AbortSignal && type === 'abort') {
        listening.set(this, listeners.add(listener))
      }
      return addEventListener.apply(this, args)
    },
    removeEventListener(this: EventTarget, ...args: Arguments) {
      const [type, listener] = args
      if (type === 'abort') listening.get(this)?.delete(listener)
      return removeEventListener.apply(this, args)
    },
  })
  try {
    await work()
  } finally {
    Object.assign(EventTarget.prototype, { addEventListener, removeEventListener })
  }
  return [...listening.values()].reduce((sum, { size }) => sum + size, 0)
}
