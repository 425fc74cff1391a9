import { sleep, startTimer } from '../async.ts'
import { RatesError } from '../errors.ts'
import { parseRetryAfter, requireBody } from '../response-body.ts'
import type { ClientResponse, FieldOf } from '../response-body.ts'

/** Options of every client call. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason (default none). */
  signal?: AbortSignal | undefined
}

interface ClientRequest<Body> extends CallOptions {
  /** The path after `/v1/`. */
  endpoint: string
  /** Parameters; undefined ones are not sent. */
  query?: Query
  /** Sent as JSON in a `POST` (default: a `GET`). */
  content?: unknown
  /** A field that identifies a valid body. */
  field: FieldOf<Body>
  /** Returns the result of a response with status 200 (default: the body, parsed as JSON). */
  read?: (response: Response) => Body
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

export type Call = <Body>(request: ClientRequest<Body>) => Promise<Body>

export interface CallSettings {
  /** URL of the mount, without a trailing slash. */
  root: string
  fetch: (request: Request) => Response | Promise<Response>
  retries: number
  key: string | undefined
}

const MAX_RETRY_AFTER_SECONDS = 10

/** Retries after a 502, or a 429 or 503 with `Retry-After`: after that delay, or else after 1 s, 2 s and so on. */
export function createCall({ root, fetch, retries, key }: CallSettings): Call {
  const exchange = createExchange(fetch, key, Date.now)
  return async ({ endpoint, query = {}, content, field, signal, read }) => {
    const url = `${root}/v1/${endpoint}${toSearch(query)}`
    const body = JSON.stringify(content)
    for (let tries = 1; ; tries += 1) {
      signal?.throwIfAborted()
      const response = await exchange({ url, body, signal, isRead: read !== undefined })
      if (read && response.unread) return read(response.unread)
      const { retryAfter = tries } = response
      if (!isRetried(response) || tries > retries || retryAfter > MAX_RETRY_AFTER_SECONDS) {
        const without = endpoint === 'quote' ? 'the service has no quotes, or ' : ''
        return requireBody(response, field, (status, code) =>
          WRONG_BASE_URL.includes(status) && code !== 'no_data'
            ? without + baseUrlHint(root)
            : undefined,
        )
      }
      await sleep({ startTimer }, retryAfter * 1_000, signal)
    }
  }
}

/** A 429 or 503 without `Retry-After` comes from a gateway; the service sends `Retry-After`. */
function isRetried({ status, retryAfter }: ClientResponse): boolean {
  return status === 502 || ((status === 429 || status === 503) && retryAfter !== undefined)
}

function toSearch(query: Query): string {
  const sent = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = String(new URLSearchParams(sent.map(([name, value]) => [name, String(value)])))
  return search && `?${search}`
}

type Exchange = (request: ExchangeRequest) => Promise<ClientResponse & { unread?: Response }>

interface ExchangeRequest extends CallOptions {
  url: string
  body: string | undefined
  /** Whether the caller reads the body of a response with status 200. */
  isRead: boolean
}

/** Keeps the text, which is parsed for each caller, so that callers cannot change each other's objects. */
interface CachedResponse {
  etag: string
  text: string
}

const MAX_CACHED_RESPONSES = 64

/** Creates an exchange over `fetch` that revalidates the 64 most recent responses by their `ETag`. All have the same key. */
function createExchange(
  fetch: CallSettings['fetch'],
  key: string | undefined,
  now: () => number,
): Exchange {
  // Fetch removes this header before it follows a redirect to another origin.
  const authorization = key === undefined ? undefined : { authorization: `Bearer ${key}` }
  const cache = new Map<string, CachedResponse>()

  function store(url: string, body: CachedResponse): void {
    cache.delete(url)
    cache.set(url, body)
    const [oldest = url] = cache.keys()
    if (cache.size > MAX_CACHED_RESPONSES) cache.delete(oldest)
  }

  return async ({ url, body, signal, isRead }) => {
    // Browsers revalidate their own cache; an `If-None-Match` header would cost a preflight and bypass that cache.
    const cached = globalThis.location || body !== undefined ? undefined : cache.get(url)
    const headers: HeadersInit = {
      ...authorization,
      ...(cached && { 'if-none-match': cached.etag }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const init: RequestInit = body === undefined ? { headers } : { method: 'POST', body, headers }
    try {
      const request = new Request(url, { ...init, signal: signal ?? null })
      const response = await fetch(request)
      if (isRead && response.status === 200) return { status: 200, text: '', unread: response }
      const text = await response.text()
      // Keeps `request` referenced: Node ignores the abort of a collected request while its body is being received.
      request.signal.throwIfAborted()
      const { status } = response
      if (status === 304 && cached) {
        store(url, cached)
        return { status: 200, text: cached.text }
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

/** Statuses of other servers below a wrong `baseUrl`. */
const WRONG_BASE_URL = [200, 404]

function baseUrlHint(root: string): string {
  const { pathname } = new URL(root)
  const [version] = /\/v\d+$/.exec(pathname) ?? []
  const expected = version ? `without "${version}"` : 'by default "/api"'
  return `baseUrl must end with the handler's base path, ${expected}; got "${pathname}"`
}
