import type { ProviderContext } from '../../src/index.ts'

/** A Friday evening in Frankfurt, ms since the Unix epoch. */
export const NOW = Date.UTC(2026, 10, 20, 18)

/** A `fetch` that remembers its requests and returns the responses in their order, the last one for ever. */
export interface Upstream {
  context: ProviderContext
  asked: { url: string; init: RequestInit }[]
}

/** An upstream that answers with `responses`; a function is called for its response, an `Error` is thrown. */
export function upstream(
  responses: (Response | Error | (() => Response))[],
  signal: AbortSignal = new AbortController().signal,
): Upstream {
  const asked: Upstream['asked'] = []
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    asked.push({ url: String(input instanceof Request ? input.url : input), init })
    const next = responses.length > 1 ? responses.shift() : responses[0]
    if (next instanceof Error) throw next
    if (typeof next === 'function') return next()
    return next ?? Response.error()
  }
  return { context: { fetch, signal, now: () => NOW }, asked }
}

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
