import { RejectedError } from '../rates/validate.ts'

/**
 * Returns the first success among `urls` of identical copies. Calls `call` for the next URL when the one before has failed,
 * or has not settled after `delay` ms. Its signal aborts with `signal`, and as soon as another call has succeeded. Uses the
 * timers of the platform.
 *
 * Rejects if all calls fail: with the only error, or with one that combines all messages.
 */
export async function firstSuccess<Result>(
  urls: readonly string[],
  { delay, signal }: { delay: number; signal: AbortSignal },
  call: (url: string, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController()
  const limit = AbortSignal.any([signal, ending.signal])
  const calls: Promise<Result>[] = []
  try {
    for (const url of urls) {
      const started = call(url, limit)
      calls.push(started)
      const isSuccess = await Promise.race([
        isFulfilled(Promise.any(calls)),
        isFulfilled(started),
        falseAfter(delay),
      ])
      if (isSuccess || signal.aborted) break
    }
    return await Promise.any(calls)
  } catch (error) {
    throw error instanceof AggregateError ? combineErrors(error.errors) : error
  } finally {
    ending.abort()
  }
}

async function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  )
}

function falseAfter(delay: number): Promise<false> {
  return new Promise((resolve) => {
    AbortSignal.timeout(delay).addEventListener('abort', () => resolve(false))
  })
}

/** The shortest delay of all errors becomes the `retryAfterMs`. */
function combineErrors(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0]
  const text = errors.map((error) => (error instanceof Error ? error.message : error)).join('; ')
  if (errors.every((error) => error instanceof RejectedError)) return new RejectedError(text)
  const retryAfterMs = Math.min(...errors.map((error) => Number(Object(error).retryAfterMs ?? 0)))
  return Object.assign(new AggregateError(errors, text), { retryAfterMs })
}
