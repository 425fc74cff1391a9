import type { Runtime } from '../src/runtime.ts'

/** A machine whose time passes only in `advance`. */
export interface VirtualRuntime extends Runtime {
  /** Lets `duration` ms pass on both clocks, firing the timers that fall due in their order. */
  advance(duration: number): Promise<void>
  /** Sets the wall clock alone, as an administrator or a resumed machine does. */
  setClock(instant: number): void
  /** How many timers are waiting. */
  timers(): number
}

/** A virtual machine whose clock starts at `start` (ms since the Unix epoch) and whose random numbers are all `random`. */
export function virtualRuntime(start: number, random = 0): VirtualRuntime {
  let monotonic = 0
  let offset = start
  let order = 0
  const timers = new Map<number, { at: number; callback: () => void }>()

  function nextTimer(until: number): [number, { at: number; callback: () => void }] | undefined {
    return [...timers]
      .filter(([, timer]) => timer.at <= until)
      .sort(([a, one], [b, other]) => one.at - other.at || a - b)[0]
  }

  return {
    now: () => offset + monotonic,
    monotonic: () => monotonic,
    random: () => random,
    startTimer(callback, delay) {
      const id = (order += 1)
      timers.set(id, { at: monotonic + delay, callback })
      return () => timers.delete(id)
    },
    async advance(duration) {
      const until = monotonic + duration
      await settled()
      for (let next = nextTimer(until); next; next = nextTimer(until)) {
        const [id, timer] = next
        timers.delete(id)
        monotonic = Math.max(monotonic, timer.at)
        timer.callback()
        await settled()
      }
      monotonic = until
      await settled()
    },
    setClock(instant) {
      offset = instant - monotonic
    },
    timers: () => timers.size,
  }
}

/** Resolves when everything that waits only for promises has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Runs `work` and returns how many listeners it added to signals and did not remove. */
export async function listenersLeftBy(work: () => Promise<void>): Promise<number> {
  const { addEventListener, removeEventListener } = EventTarget.prototype
  const listening = new Map<EventTarget, Set<unknown>>()
  const added: typeof addEventListener = function added(this: EventTarget, type, listener, how) {
    const listeners = listening.get(this) ?? new Set()
    if (this instanceof AbortSignal && type === 'abort') {
      listening.set(this, listeners.add(listener))
    }
    return addEventListener.call(this, type, listener, how)
  }
  const removed: typeof removeEventListener = function removed(
    this: EventTarget,
    type,
    listener,
    how,
  ) {
    if (type === 'abort') listening.get(this)?.delete(listener)
    return removeEventListener.call(this, type, listener, how)
  }
  Object.assign(EventTarget.prototype, {
    addEventListener: added,
    removeEventListener: removed,
  })
  try {
    await work()
  } finally {
    Object.assign(EventTarget.prototype, { addEventListener, removeEventListener })
  }
  return [...listening.values()].reduce((sum, { size }) => sum + size, 0)
}
