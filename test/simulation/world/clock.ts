import type { EventLoop } from './event-loop.ts'

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
   * How many ms whoever ages by this clock may be ahead of true time at most, since the last call of `forget`: by every
   * step forward, but not younger again by a step back.
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
    oldest: () => oldest,
    forget() {
      oldest = current
      jumps = 0
    },
  }
}
