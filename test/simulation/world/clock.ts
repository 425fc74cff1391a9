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
