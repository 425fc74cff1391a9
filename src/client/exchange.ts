import { RatesError } from '../errors.ts'
import { parseRetryAfter } from './response.ts'
import type { ClientResponse } from './response.ts'

/** Sends one request and resolves to its response, of any status; rejects without a response. */
export type Exchange = (url: string, signal: AbortSignal | undefined) => Promise<ClientResponse>

/** Keeps the text, which is parsed for each caller, so that callers cannot change each other's objects. */
interface CachedResponse {
  etag: string
  text: string
}

const MAX_CACHED_RESPONSES = 64

/** Creates an exchange over `fetch` that revalidates the 64 most recent responses by their `ETag`. */
export function createExchange(
  fetch: (request: Request) => Response | Promise<Response>,
  now: () => number,
): Exchange {
  const cache = new Map<string, CachedResponse>()

  function store(url: string, body: CachedResponse): void {
    cache.delete(url)
    cache.set(url, body)
    const [oldest = url] = cache.keys()
    if (cache.size > MAX_CACHED_RESPONSES) cache.delete(oldest)
  }

  return async (url, signal) => {
    // Browsers revalidate their own cache; an `If-None-Match` header would cost a preflight and bypass that cache.
    const cached = globalThis.location ? undefined : cache.get(url)
    const headers: HeadersInit = cached ? { 'if-none-match': cached.etag } : {}
    try {
      const request = new Request(url, { headers, signal: signal ?? null })
      const response = await fetch(request)
      const text = await response.text()
      // Keeps `request` referenced: Node ignores the abort of a collected request while its body is being received.
      request.signal.throwIfAborted()
      const { status } = response
      if (status === 304 && cached) {
        store(url, cached)
        return { status: 200, text: cached.text, retryAfter: undefined }
      }
      const etag = response.headers.get('etag')
      if (status === 200 && etag) store(url, { etag, text })
      return {
        status,
        text,
        retryAfter: parseRetryAfter(response.headers.get('retry-after'), now()),
      }
    } catch (cause) {
      throw new RatesError('provider_unavailable', 'The service cannot be reached', { cause })
    } finally {
      // After an abort, rejects with its reason, even if the request succeeded.
      signal?.throwIfAborted()
    }
  }
}
