import { withTimeout } from '../cache/with-timeout.ts'
import type { Runtime } from '../runtime.ts'

/** Options of `hedge`. */
export interface HedgeOptions {
  runtime: Runtime
  /** How long to wait for a call before the next one starts in parallel, in ms. */
  delay: number
  /** Prevents further calls. */
  signal: AbortSignal
}

/**
 * Returns the result of the first successful `call` to one of the targets. The next target is called when the previous
 * call fails, or in parallel after `delay`, as RFC 8305 does for the addresses of a host. Rejects when all calls fail.
 */
export async function hedge<Target, Data>(
  [first, ...others]: readonly Target[],
  call: (target: Target) => Promise<Data>,
  options: HedgeOptions,
): Promise<Data> {
  if (first === undefined) throw new Error('no provider may be called now')
  const response = call(first)
  if (others.length === 0) return response
  const { runtime, delay, signal } = options
  const next = withTimeout(runtime, delay, response, signal).catch(() => {
    signal.throwIfAborted()
    return hedge(others, call, options)
  })
  return Promise.any([response, next])
}
