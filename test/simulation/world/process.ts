import type { Runtime } from '../../../src/runtime.ts'
import { createKnowledge } from '../invariants/knowledge.ts'
import type { Knowledge } from '../invariants/knowledge.ts'
import type { Clock } from './clock.ts'
import type { EventLoop, Owner } from './event-loop.ts'
import type { Random } from './random.ts'

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
