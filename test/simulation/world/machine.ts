import type { Runtime } from './fleet.ts'
import { createKnowledge } from '../invariants/knowledge.ts'
import type { Knowledge } from '../invariants/knowledge.ts'
import type { Random } from './random.ts'

/** Something that events happen to: a process, which may be stopped for a while or be gone. */
interface Owner {
  /** Nothing that belongs to it happens any more. */
  readonly isGone: boolean
  /** What falls due before this moment happens at this moment instead, all at once. In ms of virtual time. */
  readonly pausedUntil: number
}

/** Virtual time and what is going to happen in it. All times in ms since the simulation's start. */
export interface EventLoop {
  now(): number
  /** Calls `callback` after `delay` ms; the function returned prevents it. */
  after(delay: number, callback: () => void, owner?: Owner): () => void
  /** The same for a timer: after a pause of its owner, timers fire before what has come over the network. */
  timer(delay: number, callback: () => void, owner: Owner): () => void
  /** Ends `run` with `error`, from wherever it is called. */
  fail(error: Error): void
  /**
   * Lets time pass until `until`, jumping from one event to the next. After each, all that waits only for promises goes on.
   *
   * @throws {Error} what `fail` was given first
   */
  run(until: number): Promise<void>
  /** How many events have happened. */
  count(): number
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

/** An event loop at time 0. */
export function createEventLoop(): EventLoop {
  const queue = createQueue()
  let [now, sequence, count] = [0, 0, 0]
  let failure: Error | undefined

  function schedule(
    delay: number,
    { callback, owner, isTimer }: Pick<Event, 'callback' | 'owner' | 'isTimer'>,
  ): () => void {
    const time = now + Math.max(0, delay)
    const event: Event = { time, rank: time, sequence, isTimer, callback, owner }
    sequence += 1
    queue.push(event)
    return () => {
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
    queue.push(event)
    return false
  }

  return {
    now: () => now,
    after: (delay, callback, owner) => schedule(delay, { callback, owner, isTimer: false }),
    timer: (delay, callback, owner) => schedule(delay, { callback, owner, isTimer: true }),
    fail(error) {
      failure ??= error
    },
    async run(until) {
      for (let event = queue.pop(until); event; event = queue.pop(until)) {
        now = event.time
        if (!isDue(event)) continue
        count += 1
        const { callback } = event
        event.callback = undefined
        callback?.()
        await promisesSettled()
        if (failure) throw failure
      }
      now = until
    },
    count: () => count,
  }
}

/** Resolves when everything that waits only for promises has gone on. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

interface Queue {
  push(event: Event): void
  /** Takes the first event out, unless it is after `until`. */
  pop(until: number): Event | undefined
}

/** A binary heap. */
function createQueue(): Queue {
  const heap: Event[] = []

  function sink(event: Event): void {
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      const [left, right] = [heap[child], heap[child + 1]]
      if (left && right && isBefore(right, left)) child += 1
      const first = heap[child]
      if (!first || !isBefore(first, event)) break
      heap[index] = first
      index = child
    }
    heap[index] = event
  }

  return {
    push(event) {
      let index = heap.push(event) - 1
      for (let parent = heap[(index - 1) >> 1]; index > 0; parent = heap[(index - 1) >> 1]) {
        if (!parent || !isBefore(event, parent)) break
        heap[index] = parent
        index = (index - 1) >> 1
      }
      heap[index] = event
    },
    pop(until) {
      const [first] = heap
      if (!first || first.time > until) return undefined
      const last = heap.pop()
      if (last && heap.length > 0) sink(last)
      return first
    },
  }
}

function isBefore(one: Event, other: Event): boolean {
  if (one.time !== other.time) return one.time < other.time
  if (one.rank !== other.rank) return one.rank < other.rank
  return one.sequence < other.sequence
}

/** The wall clock of one machine: true time and an offset that may change at any moment. */
export interface Clock {
  /** Ms since the Unix epoch, whole as `Date.now` is. */
  now(): number
  /** Sets the clock to true time plus `offset` ms. */
  set(offset: number): void
  /** How many ms it is ahead of true time. */
  ahead(): number
  /** How often it has been set since the last call of `forget`. */
  jumps(): number
  /**
   * The latest that whoever ages by this clock may take it to be, in ms since the Unix epoch: every step forward since the
   * last call of `forget` makes what is held older, but no step back makes it younger again.
   */
  oldest(): number
  /** Forgets all that has been. */
  forget(): void
}

/** A clock that is `offset` ms ahead of true time, which is `startsAt` (ms since the Unix epoch) at the start of `loop`. */
export function createClock(loop: EventLoop, startsAt: number, offset: number): Clock {
  let [current, oldest, jumps] = [offset, offset, 0]
  return {
    now: () => Math.floor(startsAt + loop.now() + current),
    set(to) {
      oldest += Math.max(0, to - current)
      current = to
      jumps += 1
    },
    ahead: () => current,
    jumps: () => jumps,
    oldest: () => startsAt + loop.now() + oldest,
    forget() {
      oldest = current
      jumps = 0
    },
  }
}

/** One life of a server process, as far as its machine goes. All times in ms of virtual time. */
export interface Process extends Owner {
  /** The number of its host from 0; the process that follows it there has the same. */
  readonly host: number
  readonly clock: Clock
  readonly startedAt: number
  /** The end of its last pause. */
  readonly resumedAt: number
  /** Whether its handler has been closed in good order. */
  isClosed: boolean
  /** What can be told from outside of what its handler holds and does. */
  readonly knowledge: Knowledge
  /** What its handler runs on, with `now` as its clock. */
  runtime(now: () => number): Runtime
  /** How many timers are set. */
  timers(): number
  /** Stops it for `duration` ms: nothing happens to it, and then all at once. */
  pause(duration: number): void
  /** Ends it at once: nothing happens to it any more. */
  kill(): void
}

/** A process that starts now. */
export function startProcess(loop: EventLoop, host: number, clock: Clock, random: Random): Process {
  let [isGone, pausedUntil, timers] = [false, -Infinity, 0]
  clock.forget()
  const process: Process = {
    host,
    clock,
    startedAt: loop.now(),
    isClosed: false,
    knowledge: createKnowledge(),
    get isGone() {
      return isGone
    },
    get pausedUntil() {
      return pausedUntil
    },
    get resumedAt() {
      return pausedUntil
    },
    runtime: (now) => ({
      now,
      monotonic: () => loop.now() - process.startedAt,
      random: random.next,
      startTimer(callback, delay) {
        timers += 1
        let isSet = true
        const end = (): boolean => {
          const wasSet = isSet
          isSet = false
          if (wasSet) timers -= 1
          return wasSet
        }
        const cancel = loop.timer(
          delay,
          () => {
            if (end()) callback()
          },
          process,
        )
        return () => {
          if (end()) cancel()
        }
      },
    }),
    timers: () => timers,
    pause(duration) {
      pausedUntil = Math.max(pausedUntil, loop.now() + duration)
    },
    kill() {
      isGone = true
    },
  }
  return process
}
