import { withTimeout } from '../cache/with-timeout.ts'
import type { Runtime } from '../runtime.ts'

/** How calls follow each other. */
export interface HedgeOptions {
  runtime: Runtime
  /** How long each call is alone before the next is made beside it, in ms. */
  delay: number
  /** Keeps further ones from being asked. */
  signal: AbortSignal
}

/**
 * What the first call to go well comes to, of `ask` for each of `asked`. The next one is asked as soon as the one before
 * has failed, or beside it when that has had its head start, as RFC 8305 has it for the addresses of a host. Rejects when
 * all have failed.
 */
export async function hedge<Asked, Data>(
  [first, ...others]: readonly Asked[],
  call: (target: Asked) => Promise<Data>,
  options: HedgeOptions,
): Promise<Data> {
  if (first === undefined) throw new Error('there is nobody to ask')
  const answer = call(first)
  if (others.length === 0) return answer
  const { runtime, delay, signal } = options
  const next = withTimeout(runtime, delay, answer, signal).catch(() => {
    signal.throwIfAborted()
    return hedge(others, call, options)
  })
  return Promise.any([answer, next])
}
