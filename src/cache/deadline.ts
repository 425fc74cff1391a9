import type { Runtime } from '../runtime.ts'
import { runInBackground } from './run-in-background.ts'
import type { WaitUntil } from './run-in-background.ts'
import { UnavailableError } from './single-flight.ts'
import { TimeoutError, withTimeout } from './with-timeout.ts'

/** How long a request waits in total, in ms. */
export const REQUEST_TIMEOUT_MS = 5_000

/** A request for data. `signal` ends its wait; it is read only when the request has to wait. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
}

/** Waits for work within the deadline of one request; the work continues when the deadline passes. */
export type WaitFor = (work: Promise<void>) => Promise<void>

/**
 * Starts the deadline of `request`: 5 s from now, for all work together.
 *
 * The returned function rejects with an `UnavailableError` when the deadline passes, the request is aborted or the work
 * rejects with one.
 */
export function startDeadline(
  runtime: Runtime,
  request: RequestOptions | undefined,
  waitUntil: WaitUntil | undefined,
): WaitFor {
  const startedAt = runtime.monotonic()
  return async (work) => {
    const remaining = startedAt + REQUEST_TIMEOUT_MS - runtime.monotonic()
    try {
      await withTimeout(runtime, remaining, work, request?.signal)
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      runInBackground(work, waitUntil)
      throw new UnavailableError(error instanceof TimeoutError ? REQUEST_TIMEOUT_MS : 0, error)
    }
  }
}
