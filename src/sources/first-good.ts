import { within } from '../cache/within.ts'
import type { Runtime } from '../runtime.ts'

/** How calls follow each other. */
export interface Staggering {
  runtime: Runtime
  /** How long each call is alone before the next is made beside it, in ms. */
  headStart: number
  /** Keeps further ones from being asked. */
  signal: AbortSignal
}

/**
 * What the first call to go well comes to, of `ask` for each of `asked`. The next one is asked as soon as the one before
 * has failed, or beside it when that has had its head start, as RFC 8305 has it for the addresses of a host. Rejects when
 * all have failed.
 */
export async function firstGood<Asked, Data>(
  [first, ...others]: readonly Asked[],
  ask: (asked: Asked) => Promise<Data>,
  staggering: Staggering,
): Promise<Data> {
  if (first === undefined) throw new Error('there is nobody to ask')
  const answer = ask(first)
  if (others.length === 0) return answer
  const { runtime, headStart, signal } = staggering
  const next = within(runtime, headStart, answer, signal).catch(() => {
    signal.throwIfAborted()
    return firstGood(others, ask, staggering)
  })
  return Promise.any([answer, next])
}
