import { RejectedError } from '../rates/rejected-error.ts'

/**
 * The first good answer of one of several `urls` that have the same. `ask` is called for the next of them when the one
 * before has failed, or has had no answer for `delay` ms; its signal aborts when another one was first, and with
 * `signal`. By the machine's timers.
 *
 * Rejects where none has an answer: with the error of the only one, else with one that tells them all.
 */
export async function firstSuccess<Answer>(
  urls: readonly string[],
  { delay, signal }: { delay: number; signal: AbortSignal },
  call: (url: string, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const over = new AbortController()
  const limit = AbortSignal.any([signal, over.signal])
  const calls: Promise<Answer>[] = []
  try {
    for (const url of urls) {
      const started = call(url, limit)
      calls.push(started)
      const isGood = await Promise.race([
        isFulfilled(Promise.any(calls)),
        isFulfilled(started),
        falseAfter(delay),
      ])
      if (isGood || signal.aborted) break
    }
    return await Promise.any(calls)
  } catch (error) {
    throw error instanceof AggregateError ? combineErrors(error.errors) : error
  } finally {
    over.abort()
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

/** One error for all; whoever may be asked soonest decides on the pause. */
function combineErrors(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0]
  const text = errors.map((error) => (error instanceof Error ? error.message : error)).join('; ')
  if (errors.every((error) => error instanceof RejectedError)) return new RejectedError(text)
  const retryAfterMs = Math.min(...errors.map((error) => Number(Object(error).retryAfterMs ?? 0)))
  return Object.assign(new AggregateError(errors, text), { retryAfterMs })
}
