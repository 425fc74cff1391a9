import type { Runtime } from '../runtime.ts'

/** The time that was granted is over. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * Settles as `promise` does, but rejects as soon as `limit` ms are over (`TimeoutError`) or `signal` aborts (its
 * reason). Only the waiting ends then, not the work. Leaves no timer and no listener behind.
 */
export function withTimeout<T>(
  runtime: Runtime,
  timeout: number,
  promise: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const giveUp = (): void => {
      end()
      reject(new TimeoutError(`no answer within ${timeout} ms`))
    }
    let stopTimer = runtime.startTimer(() => {
      // A loop that was blocked fires its timers before it reads the answers that have come meanwhile: one more turn.
      stopTimer = runtime.startTimer(giveUp, 0)
    }, timeout)
    const onAbort = (): void => {
      end()
      reject(abortReason(signal))
    }
    const end = (): void => {
      stopTimer()
      signal?.removeEventListener('abort', onAbort)
    }
    signal?.addEventListener('abort', onAbort)
    promise.finally(end).then(resolve, reject)
    if (signal?.aborted) onAbort()
  })
}

/**
 * Runs `work` for at most `limit` ms, under a signal of its own that aborts when the time is over or `parent` aborts.
 * Rejects at that moment even if `work` takes no notice.
 */
export async function runWithTimeout<T>(
  runtime: Runtime,
  timeout: number,
  work: (signal: AbortSignal) => Promise<T>,
  parent?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  try {
    return await withTimeout(runtime, timeout, Promise.resolve(work(controller.signal)), parent)
  } catch (error) {
    controller.abort(error)
    throw error
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
