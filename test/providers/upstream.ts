import type { ProviderContext } from '../../src/index.ts'

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

/** Rates of `count` currencies, all 2: fewer than 20 are refused as no market. */
export function manyRates(count = 20): Record<string, number> {
  return Object.fromEntries(CODES.slice(0, count).map((code) => [code, 2]))
}

const CODES =
  'AUD,BRL,CAD,CHF,CNY,CZK,DKK,GBP,HKD,HUF,IDR,ILS,INR,ISK,KRW,MXN,MYR,NOK,NZD,PHP,PLN,RON,SEK,SGD,THB,TRY,ZAR'.split(
    ',',
  )
