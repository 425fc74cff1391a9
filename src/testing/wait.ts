import type { Runtime } from '../async.ts'

/** Resolves after `duration` ms. */
export type Wait = (duration: number) => Promise<void>

/** Creates a `Wait` that uses the timers of `runtime`. */
export function createWait({ startTimer }: Pick<Runtime, 'startTimer'>): Wait {
  return (duration) => new Promise((resolve) => void startTimer(resolve, duration))
}
