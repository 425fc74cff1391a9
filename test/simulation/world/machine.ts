import type { Runtime } from '../../../src/runtime.ts'
import { settled } from '../../virtual-runtime.ts'
import { createKnowledge } from '../invariants/knowledge.ts'
import type { Random } from './random.ts'

/** Something that events happen to: a process, which may be paused for a while or be gone. */
interface Owner {
  /** Nothing that belongs to it happens any more. */
  isGone: boolean
  /** The end of its last pause: what falls due before happens then, all at once. In ms of virtual time. */
  pausedUntil: number
}

/** Ranks a timer before all that is no timer; far more than any simulation lasts, in ms. */
const TIMERS_FIRST = 1e13

interface Event {
  time: number
  /** Decides between events of one time; after a pause that is when they should have happened. */
  rank: number
  sequence: number
  isTimer: boolean
  callback: (() => void) | undefined
  owner: Owner | undefined
}

/** Virtual time and what is going to happen in it. */
export type EventLoop = ReturnType<typeof createEventLoop>

export function createEventLoop() {
  /** In reverse order: the next event is the last. */
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

  /** Whether `event` is to happen now; one of a paused process is put off. */
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
   * Jumps to the next event, unless that is after `until`, and lets all that waits only for promises go on after it;
   * returns whether there was one.
   *
   * @throws {Error} what `fail` was given first
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
    /** Calls `callback` after `delay` ms; the function returned prevents it. */
    after: (delay: number, callback: () => void, owner?: Owner) =>
      schedule(false, delay, callback, owner),
    /** The same for a timer: after a pause of its owner, timers fire before what has come over the network. */
    timer: (delay: number, callback: () => void, owner: Owner) =>
      schedule(true, delay, callback, owner),
    /** Ends `run` with `error`, from wherever it is called. */
    fail(error: Error) {
      failure ??= error
    },
    step,
    /** Lets time pass until `until`, from one event to the next. */
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

/** The wall clock of one machine: true time and an offset that may change at any moment. */
export type Clock = ReturnType<typeof createClock>

/** A clock that is `offset` ms ahead of true time, which is `startsAt` (ms since the Unix epoch) at the start of `loop`. */
export function createClock(loop: EventLoop, startsAt: number, offset: number) {
  let [current, oldest, jumps] = [offset, offset, 0]
  return {
    /** Ms since the Unix epoch, whole as `Date.now` is. */
    now: () => Math.floor(startsAt + loop.now() + current),
    /** Sets the clock to true time plus `to` ms. */
    set(to: number) {
      oldest += Math.max(0, to - current)
      current = to
      jumps += 1
    },
    ahead: () => current,
    /** How often it has been set since the last call of `forget`. */
    jumps: () => jumps,
    /**
     * The latest that a process that ages by this clock may take it to be, in ms since the Unix epoch: every step forward
     * since the last call of `forget` makes its data older, but no step back makes them younger again.
     */
    oldest: () => startsAt + loop.now() + oldest,
    forget() {
      oldest = current
      jumps = 0
    },
  }
}

/** One life of a server process, as far as its machine goes. All times in ms of virtual time. */
export type Process = ReturnType<typeof startProcess>

/** Starts a process on host number `host`, which the next process there has as well. */
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
    /** What can be observed of its handler from outside. */
    knowledge: createKnowledge(),
    /** What its handler runs on, with `now` as its clock. */
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
      // Work takes no time here.
      yieldToEventLoop: () => Promise.resolve(),
    }),
    timers: () => timers.size,
    /** Stops it for `duration` ms: nothing happens to it, and then all at once. */
    pause(duration: number) {
      process.pausedUntil = Math.max(process.pausedUntil, loop.now() + duration)
    },
    kill() {
      process.isGone = true
    },
  }
  return process
}
