import type { Runtime } from '../../../src/runtime.ts'

/** So many turns of the loop let go on whatever a few promises hold up. */
const FEW_TURNS = 10

/** So many without an answer mean that only time can bring one: Deno reads a chunk of a body a turn. */
const MANY_TURNS = 150

/** Time for the outside world and any number of processes in it. It passes only when it is told to. */
export interface Machine {
  /** The true time, ms since the Unix epoch. */
  now(): number
  /** How long the machine has been running, in ms. */
  elapsed(): number
  /** Calls `callback` in `delay` ms of the outside world; the function returned prevents it. */
  after(delay: number, callback: () => void): () => void
  /** A process whose clock is wrong by `clockError` ms. */
  startProcess(clockError?: number): Process
  /** Lets `duration` ms pass, firing the timers that fall due in their order. */
  advance(duration: number): Promise<void>
  /** Waits for `work`, letting up to `limit` ms pass; one at a time. */
  drive<T>(work: Promise<T>, limit: number): Promise<T>
  /** Lets go on what waits for nothing but promises: for a few turns of the loop, or for as many as it takes until `isDone`. */
  settle(isDone?: () => boolean): Promise<void>
  close(): void
}

/** What one process sees of the machine. */
export interface Process extends Runtime {
  /** Sets its clock so much ahead of the true time, in ms; behind where negative. */
  setClockError(error: number): void
  /** Stops it, as a host does with a process that has answered: no timer fires until `thaw`. */
  freeze(): void
  thaw(): void
  /** How many of its timers are waiting. */
  timers(): number
}

/** A machine whose time starts at `start`, ms since the Unix epoch. */
export function createMachine(start: number): Machine {
  const channel = new MessageChannel()
  const waiting: (() => void)[] = []
  const timers = new Set<{ at: number; callback: () => void }>()
  let elapsed = 0
  channel.port2.addEventListener('message', () => waiting.shift()?.())
  channel.port2.start()

  /** One turn of the real loop, quicker than a timer. */
  function turn(): Promise<void> {
    return new Promise((resolve) => {
      waiting.push(resolve)
      channel.port1.postMessage(null)
    })
  }

  function after(delay: number, callback: () => void): () => void {
    const timer = { at: elapsed + delay, callback }
    timers.add(timer)
    return () => timers.delete(timer)
  }

  async function settle(isDone?: () => boolean): Promise<void> {
    for (let turns = isDone ? MANY_TURNS : FEW_TURNS; turns > 0; turns -= 1) {
      if (isDone?.()) break
      await turn()
    }
  }

  /** Fires the timers of the next instant that has some, if that is not after `until`. */
  async function fireNext(until: number): Promise<boolean> {
    const next = Math.min(...[...timers].map(({ at }) => at))
    if (next > until) return false
    elapsed = Math.max(elapsed, next)
    for (const timer of [...timers].filter(({ at }) => at <= next)) {
      // An earlier one may have prevented it.
      if (!timers.delete(timer)) continue
      timer.callback()
      await turn()
    }
    return true
  }

  return {
    now: () => start + elapsed,
    elapsed: () => elapsed,
    after,
    startProcess: (clockError = 0) => createProcess(start, () => elapsed, after, clockError),
    async advance(duration) {
      const until = elapsed + duration
      await turn()
      while (await fireNext(until)) await turn()
      elapsed = until
      await turn()
    },
    async drive(work, limit) {
      const until = elapsed + limit
      let isDone = false
      const done = work.finally(() => {
        isDone = true
      })
      done.catch(() => undefined)
      for (;;) {
        await settle(() => isDone)
        if (isDone) return done
        if (!(await fireNext(until))) throw new Error(`nothing came of it within ${limit} ms`)
      }
    },
    settle,
    close() {
      channel.port1.close()
      channel.port2.close()
    },
  }
}

function createProcess(
  start: number,
  elapsed: () => number,
  after: Machine['after'],
  clockError: number,
): Process {
  const pending = new Set<() => void>()
  const overdue: (() => void)[] = []
  let ahead = clockError
  let isFrozen = false
  return {
    now: () => start + elapsed() + ahead,
    monotonic: elapsed,
    random: () => 0.5,
    startTimer(callback, delay) {
      const fire = (): void => {
        if (isFrozen) overdue.push(fire)
        else if (pending.delete(fire)) callback()
      }
      pending.add(fire)
      const stop = after(delay, fire)
      return () => {
        stop()
        pending.delete(fire)
      }
    },
    setClockError(error) {
      ahead = error
    },
    freeze() {
      isFrozen = true
    },
    thaw() {
      isFrozen = false
      for (const fire of overdue.splice(0)) fire()
    },
    timers: () => pending.size,
  }
}
