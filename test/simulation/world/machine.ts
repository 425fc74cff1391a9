import type { Runtime } from '../../../src/async.ts'
import { settled } from '../../virtual-runtime.ts'
import { createKnowledge } from '../invariants/tables.ts'
import type { Random } from './random.ts'

interface Owner {
  isGone: boolean
  /** End of its last pause, when all events due before happen at once. In ms of virtual time. */
  pausedUntil: number
}

/** Ranks timers before other events. Far more than the length of any simulation, in ms. */
const TIMERS_FIRST = 1e13

interface Event {
  time: number
  /** Orders events of the same time; after a pause, by the time when they were due. */
  rank: number
  sequence: number
  isTimer: boolean
  callback: (() => void) | undefined
  owner: Owner | undefined
}

export type EventLoop = ReturnType<typeof createEventLoop>

export function createEventLoop() {
  const queue: Event[] = []
  let [now, sequence, count] = [0, 0, 0]
  let failure: Error | undefined

  function enqueue(event: Event): void {
    let [low, high] = [0, queue.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const other = queue[middle]
      if (other && isBefore(event, other)) low = middle + 1
      else high = middle
    }
    queue.splice(low, 0, event)
  }

  function schedule(isTimer: boolean, delay: number, callback: () => void, owner?: Owner) {
    const time = now + Math.max(0, delay)
    const event: Event = { time, rank: time, sequence, isTimer, callback, owner }
    sequence += 1
    enqueue(event)
    return (): void => {
      event.callback = undefined
    }
  }

  /** Returns whether `event` happens now. Postpones events of a paused process. */
  function isDue(event: Event): boolean {
    const { callback, owner } = event
    if (!callback || owner?.isGone) return false
    if (!owner || owner.pausedUntil <= event.time) return true
    if (event.isTimer && event.rank >= 0) event.rank -= TIMERS_FIRST
    event.time = owner.pausedUntil
    enqueue(event)
    return false
  }

  /**
   * Jumps to the next event up to `until`, and awaits all promises that it settles; returns whether there was an event.
   *
   * @throws {Error} the first error given to `fail`
   */
  async function step(until: number): Promise<boolean> {
    for (let event = queue.at(-1); event && event.time <= until; event = queue.at(-1)) {
      queue.pop()
      now = event.time
      if (!isDue(event)) continue
      count += 1
      const { callback } = event
      event.callback = undefined
      callback?.()
      await settled()
      if (failure) throw failure
      return true
    }
    return false
  }

  return {
    now: () => now,
    after: (delay: number, callback: () => void, owner?: Owner) =>
      schedule(false, delay, callback, owner),
    /** The same for a timer: after a pause of its owner, timers fire before network events. */
    timer: (delay: number, callback: () => void, owner: Owner) =>
      schedule(true, delay, callback, owner),
    fail(error: Error) {
      failure ??= error
    },
    step,
    async run(until: number) {
      while (await step(until));
      now = until
    },
    count: () => count,
  }
}

function isBefore(one: Event, other: Event): boolean {
  if (one.time !== other.time) return one.time < other.time
  if (one.rank !== other.rank) return one.rank < other.rank
  return one.sequence < other.sequence
}

export type Clock = ReturnType<typeof createClock>

/** A wall clock `offset` ms ahead of true time, which is `startsAt` (ms since the Unix epoch) at the start of `loop`. */
export function createClock(loop: EventLoop, startsAt: number, offset: number) {
  let [current, oldest, jumps] = [offset, offset, 0]
  return {
    now: () => Math.floor(startsAt + loop.now() + current),
    set(to: number) {
      oldest += Math.max(0, to - current)
      current = to
      jumps += 1
    },
    ahead: () => current,
    jumps: () => jumps,
    /**
     * The latest time that a process may assume for the age of its data, in ms since the Unix epoch: every step forward
     * since the last call of `forget` makes its data older, but no step back makes them younger again.
     */
    oldest: () => startsAt + loop.now() + oldest,
    forget() {
      oldest = current
      jumps = 0
    },
  }
}

/** One life of a server process on its machine. Times in ms of virtual time. */
export type Process = ReturnType<typeof startProcess>

export function startProcess(
  loop: EventLoop,
  host: number,
  clock: Clock,
  { next }: Pick<Random, 'next'>,
) {
  const startedAt = loop.now()
  const timers = new Set<() => void>()
  clock.forget()
  const process = {
    host,
    clock,
    startedAt,
    isGone: false,
    pausedUntil: -Infinity,
    isClosed: false,
    knowledge: createKnowledge(),
    runtime: (now: () => number): Runtime => ({
      now,
      monotonic: () => loop.now() - startedAt,
      random: next,
      startTimer(callback, delay) {
        const fire = (): void => {
          if (timers.delete(fire)) callback()
        }
        timers.add(fire)
        const cancel = loop.timer(delay, fire, process)
        return () => {
          if (timers.delete(fire)) cancel()
        }
      },
      // Computation takes no virtual time.
      yieldToEventLoop: () => Promise.resolve(),
    }),
    timers: () => timers.size,
    pause(duration: number) {
      process.pausedUntil = Math.max(process.pausedUntil, loop.now() + duration)
    },
    kill() {
      process.isGone = true
    },
  }
  return process
}
