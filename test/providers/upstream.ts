import type { ProviderContext } from '../../src/providers/provider.ts'

/** A `fetch` that remembers what it was asked and answers with the responses in their turn, the last one for ever. */
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
  return { context: { fetch, signal, now: () => Date.UTC(2026, 10, 20) }, asked }
}
