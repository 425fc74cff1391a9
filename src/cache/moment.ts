import type { Runtime } from '../runtime.ts'

/** A point in time on both clocks of a machine. */
export interface Moment {
  /** In ms since the Unix epoch. */
  at: number
  monotonic: number
}

/** This moment. */
export function thisMoment(runtime: Runtime): Moment {
  return { at: runtime.now(), monotonic: runtime.monotonic() }
}

/**
 * The time now, in ms since the Unix epoch, by whichever clock has gone further since `moment`: the wall clock may have
 * been set back since, and the other one may stand still in a test.
 */
export function timeSince(moment: Moment, runtime: Runtime): number {
  return Math.max(runtime.now(), moment.at + runtime.monotonic() - moment.monotonic)
}
