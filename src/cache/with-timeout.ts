import type { Runtime } from '../runtime.ts'

/** Work took longer than its timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * Settles like `promise`, but rejects after `timeout` ms (`TimeoutError`) or when `signal` aborts (with its reason). The
 * work itself continues. Removes its timer and listener in every case.
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
      reject(new TimeoutError(`timed out after ${timeout} ms`))
    }
    let stopTimer = runtime.startTimer(() => {
      // After the event loop was blocked, timers fire before received responses are read: wait one more turn.
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
 * Runs `work` for at most `timeout` ms, with a signal that aborts after that time or when `parent` aborts. Rejects at that
 * moment even if `work` ignores the signal.
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
