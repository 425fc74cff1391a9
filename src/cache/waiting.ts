import type { Runtime } from '../runtime.ts'
import { UnavailableError } from './flight.ts'
import { goOn } from './go-on.ts'
import type { WaitUntil } from './go-on.ts'
import { TimeoutError, within } from './within.ts'

/** How long whoever asks waits in all, in ms. */
export const WAITING_LIMIT = 5_000

/** Whoever asks; `signal`, which is read only when there is something to wait for, ends the waiting. */
export interface Waiter {
  readonly signal?: AbortSignal | undefined
}

/** The time of one who asks: waits for one piece of work after another, which go on when it is over. */
export type Wait = (work: Promise<void>) => Promise<void>

/**
 * Starts the time of `waiter`, who waits for 5 s in all.
 *
 * What it makes rejects with an `UnavailableError` when the time is over, the waiter leaves or the work has failed so.
 */
export function startWaiting(
  runtime: Runtime,
  waiter: Waiter | undefined,
  waitUntil: WaitUntil | undefined,
): Wait {
  const askedAt = runtime.monotonic()
  return async (work) => {
    const limit = askedAt + WAITING_LIMIT - runtime.monotonic()
    try {
      await within(runtime, limit, work, waiter?.signal)
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      goOn(work, waitUntil)
      throw new UnavailableError(error instanceof TimeoutError ? WAITING_LIMIT : 0, error)
    }
  }
}
