import { RatesError } from '../errors.ts'
import { parseRetryAfter } from './response.ts'
import type { ClientResponse } from './response.ts'

/** Makes one request and reads its response, whatever that is; rejects where there is none. */
export type Exchange = (url: string, signal: AbortSignal | undefined) => Promise<ClientResponse>

/** A body with an entity tag, to be asked for by it and parsed anew, so that no caller can spoil another's record. */
interface CachedResponse {
  etag: string
  text: string
}

/** How many bodies are kept to be revalidated. */
const MAX_CACHED_RESPONSES = 64

/** An exchange over `fetch` that revalidates the answers it has had, those that were asked for last. */
export function createExchange(
  fetch: (request: Request) => Response | Promise<Response>,
  now: () => number,
): Exchange {
  const kept = new Map<string, CachedResponse>()

  function store(url: string, body: CachedResponse): void {
    kept.delete(url)
    kept.set(url, body)
    const [oldest = url] = kept.keys()
    if (kept.size > MAX_CACHED_RESPONSES) kept.delete(oldest)
  }

  return async (url, signal) => {
    // A browser revalidates what it caches by itself; a tag of ours would cost a preflight and switch its cache off.
    const before = globalThis.location ? undefined : kept.get(url)
    const headers: HeadersInit = before ? { 'if-none-match': before.etag } : {}
    try {
      const request = new Request(url, { headers, signal: signal ?? null })
      const response = await fetch(request)
      const text = await response.text()
      // Held up to here: Node forgets the abort of a request that nobody holds, though its body is still coming in.
      request.signal.throwIfAborted()
      const { status } = response
      if (status === 304 && before) {
        store(url, before)
        return { status: 200, text: before.text, retryAfter: undefined }
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
      // An abort is what its caller is told of, whatever came of the request.
      signal?.throwIfAborted()
    }
  }
}
