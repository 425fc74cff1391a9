import { getEventListeners } from 'node:events'

import type { EventLoop } from '../world/event-loop.ts'
import type { Process } from '../world/process.ts'
import type { Violate } from './violation.ts'

/** Timers of a process that do not belong to a waiting client: of loads and of the store. */
const TIMERS_OF_A_PROCESS = 24

/** Waiting for a store, and for a load. */
const TIMERS_OF_A_CLIENT = 2

/** Watches that nothing piles up: I12. */
export interface BoundsWatch {
  /** Looks at a process with so many clients waiting. */
  sweep(process: Process, waiting: number): void
  /** A process was closed some time ago, and nobody asks it any more. */
  drained(process: Process): void
  /** Nobody waits any more for the client whose `signal` this is. */
  answered(signal: AbortSignal): void
}

/** A watch over all processes. */
export function createBoundsWatch(loop: EventLoop, violate: Violate): BoundsWatch {
  return {
    sweep(process, waiting) {
      const most = TIMERS_OF_A_PROCESS + TIMERS_OF_A_CLIENT * waiting
      if (process.timers() <= most) return
      violate('I12', `${process.timers()} timers are set with ${waiting} clients waiting`)
    },
    drained(process) {
      if (process.timers() === 0 || process.pausedUntil >= loop.now()) return
      violate('I12', `${process.timers()} timers are still set after close()`)
    },
    answered(signal) {
      const listeners = getEventListeners(signal, 'abort').length
      if (listeners > 0) violate('I12', `${listeners} listeners are left on a client's signal`)
    },
  }
}
