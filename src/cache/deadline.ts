import type { Runtime } from '../runtime.ts'
import { UnavailableError } from './single-flight.ts'
import { runInBackground } from './run-in-background.ts'
import type { WaitUntil } from './run-in-background.ts'
import { TimeoutError, withTimeout } from './with-timeout.ts'

/** How long whoever asks waits in all, in ms. */
export const REQUEST_TIMEOUT_MS = 5_000

/** Whoever asks; `signal`, which is read only when there is something to wait for, ends the waiting. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
}

/** The time of one who asks: waits for one piece of work after another, which go on when it is over. */
export type WaitFor = (work: Promise<void>) => Promise<void>

/**
 * Starts the time of `waiter`, who waits for 5 s in all.
 *
 * What it makes rejects with an `UnavailableError` when the time is over, the waiter leaves or the work has failed so.
 */
export function startDeadline(
  runtime: Runtime,
  request: RequestOptions | undefined,
  waitUntil: WaitUntil | undefined,
): WaitFor {
  const startedAt = runtime.monotonic()
  return async (work) => {
    const limit = startedAt + REQUEST_TIMEOUT_MS - runtime.monotonic()
    try {
      await withTimeout(runtime, limit, work, request?.signal)
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      runInBackground(work, waitUntil)
      throw new UnavailableError(error instanceof TimeoutError ? REQUEST_TIMEOUT_MS : 0, error)
    }
  }
}
