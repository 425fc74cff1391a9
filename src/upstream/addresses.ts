import { hedge, systemRuntime } from '../async.ts'
import { RejectedError } from '../rates/validate.ts'
import type { ProviderContext } from './provider.ts'
import { UpstreamError } from './request.ts'

export interface Address<Data> {
  host: string
  fetch(context: ProviderContext): Promise<Data>
}

/**
 * Fetches from the first address; from the next one when that fails, or in parallel after `delay` ms. The first response ends
 * the other calls.
 *
 * @throws {Error} if all fail: the only error, or one that has the texts of all and the shortest of their delays
 */
export async function fetchFromAny<Data>(
  addresses: readonly Address<Data>[],
  context: ProviderContext,
  delay: number,
): Promise<Data> {
  const ending = new AbortController()
  const signal = AbortSignal.any([context.signal, ending.signal])
  let current: Address<Data> | undefined
  let calls = 0
  const attempt = async (address: Address<Data>): Promise<Data> => {
    if (current) {
      context.onFailure?.(new UpstreamError(`${current.host} has not responded for ${delay} ms`))
    }
    current = address
    calls += 1
    try {
      return await address.fetch({ ...context, signal })
    } catch (error) {
      if (current === address && address !== addresses.at(-1) && !signal.aborted) {
        current = undefined
        context.onFailure?.(error)
      }
      throw error
    }
  }
  try {
    return await hedge(addresses, attempt, { runtime: systemRuntime(context.now), delay, signal })
  } catch (error) {
    throw combineErrors(causesOf(error).filter((cause) => cause !== context.signal.reason))
  } finally {
    if (calls > 1) ending.abort()
  }
}

/** Returns the error of each call that was started, and the reason for ending them. */
function causesOf(error: unknown): unknown[] {
  return error instanceof AggregateError ? error.errors.flatMap(causesOf) : [error]
}

function combineErrors(errors: readonly unknown[]): unknown {
  const delays = errors.map((error) => Number(Object(error).retryAfterMs ?? 0))
  const retryAfterMs = Math.min(...delays)
  const texts = errors.map((error) => (error instanceof Error ? error.message : String(error)))
  const text = [...new Set(texts)].join('; ')
  // Both versions of a service often fail for one reason.
  if (text === texts[0]) return errors[delays.indexOf(retryAfterMs)]
  if (errors.every((error) => error instanceof RejectedError)) return new RejectedError(text)
  return Object.assign(new AggregateError(errors, text), { retryAfterMs })
}
