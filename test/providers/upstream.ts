import type { ProviderContext } from '../../src/index.ts'
import { codes } from '../fixtures/codes.ts'

/** A Friday evening in Frankfurt, ms since the Unix epoch. */
export const NOW = Date.UTC(2026, 10, 20, 18)

/**
 * Creates a `fetch` that records its requests and returns `responses` in order, the last one repeatedly. Functions are
 * called for their response; errors are thrown.
 */
export function upstream(
  responses: (Response | Error | ((url: string, init: RequestInit) => Response))[],
  signal: AbortSignal = new AbortController().signal,
) {
  const requests: { url: string; init: RequestInit }[] = []
  const fetch: ProviderContext['fetch'] = async (input, init = {}) => {
    const url = String(input instanceof Request ? input.url : input)
    requests.push({ url, init })
    const next = responses.length > 1 ? responses.shift() : responses[0]
    if (next instanceof Error) throw next
    if (typeof next === 'function') return next(url, init)
    return next ?? Response.error()
  }
  const context: ProviderContext = { fetch, signal, now: () => NOW }
  return { context, requests }
}

export type Upstream = ReturnType<typeof upstream>

/** Creates the context of a call at `now`, in which every response is `body` as JSON, with `init`. */
export function respondingWith(body: unknown, init: ResponseInit = {}, now = NOW): ProviderContext {
  const { context } = upstream([() => Response.json(body, init)])
  return { ...context, now: () => now }
}

/** Returns rates of 20 currencies, all 2: sanity checks reject fewer. None has a known range. */
export function manyRates(): Record<string, number> {
  return Object.fromEntries(codes(20).map((code) => [code, 2]))
}
