import type { ProviderContext } from '../../src/index.ts'
import { codes } from '../fixtures/codes.ts'

/** A Friday evening in Frankfurt, ms since the Unix epoch. */
export const NOW = Date.UTC(2026, 10, 20, 18)

/**
 * A `fetch` that records its requests and returns `responses` in their order, the last one for ever;
 * a function is called for its response, an `Error` is thrown.
 */
export function upstream(
  responses: (Response | Error | (() => Response))[],
  signal: AbortSignal = new AbortController().signal,
) {
  const asked: { url: string; init: RequestInit }[] = []
  const fetch: ProviderContext['fetch'] = async (input, init = {}) => {
    asked.push({ url: String(input instanceof Request ? input.url : input), init })
    const next = responses.length > 1 ? responses.shift() : responses[0]
    if (next instanceof Error) throw next
    if (typeof next === 'function') return next()
    return next ?? Response.error()
  }
  const context: ProviderContext = { fetch, signal, now: () => NOW }
  return { context, asked }
}

export type Upstream = ReturnType<typeof upstream>

/** The context of a call at `now` whose upstream answers every request with `body` as JSON, and with `init`. */
export function answering(body: unknown, init: ResponseInit = {}, now = NOW): ProviderContext {
  const { context } = upstream([() => Response.json(body, init)])
  return { ...context, now: () => now }
}

/** Rates of 20 currencies, all 2: fewer are refused as not a market. None is known to have another value. */
export function manyRates(): Record<string, number> {
  return Object.fromEntries(codes(20).map((code) => [code, 2]))
}
