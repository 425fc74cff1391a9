import { UpstreamError, pauseAfter } from './upstream-error.ts'

/** One GET of an upstream. */
export interface UpstreamRead {
  fetch: typeof fetch
  url: string
  /** Ends the read, from connecting to the last byte. */
  signal: AbortSignal
  /** The clock, ms since the Unix epoch. */
  now: () => number
  /** More bytes than this after decompression make the read fail. */
  maxBytes: number
  /** Hosts that a redirect may lead to, always over https. */
  redirectHosts: readonly string[]
}

/** What the upstream answered: its status, and its body as JSON whatever the status. */
export interface UpstreamAnswer {
  /** Who answered, for messages. */
  host: string
  status: number
  json: unknown
  /** For how many ms it wants to be left alone, where the status is not 200 and that is known. */
  retryAfterMs?: number | undefined
}

const MOST_REDIRECTS = 2

/**
 * Reads JSON from an upstream that is not trusted: bounded in time and size, without cookies or caches on the way, and
 * following redirects only to known hosts.
 *
 * @throws {Error} naming the upstream's host and what went wrong; an `UpstreamError` where it answered at all
 */
export async function readJson(read: UpstreamRead): Promise<UpstreamAnswer> {
  let url = new URL(read.url)
  for (let redirects = 0; ; redirects += 1) {
    const response = await get(read, url)
    const location = isRedirect(response.status) && response.headers.get('location')
    if (!location) return answerOf(response, read, url)
    await response.body?.cancel()
    if (redirects === MOST_REDIRECTS) throw new Error(`${url.host} redirected once too often`)
    url = followed(location, url, read.redirectHosts)
  }
}

async function get({ fetch, signal }: UpstreamRead, url: URL): Promise<Response> {
  try {
    return await fetch(url.href, {
      headers: { accept: 'application/json' },
      cache: 'no-store',
      redirect: 'manual',
      signal,
    })
  } catch (error) {
    throw new Error(`${url.host} did not answer`, { cause: error })
  }
}

async function answerOf(
  response: Response,
  { maxBytes, now, signal }: UpstreamRead,
  { host }: URL,
): Promise<UpstreamAnswer> {
  const { status } = response
  const retryAfterMs = pauseAfter(response, now())
  try {
    const text = await readText(response, maxBytes, signal)
    return { host, status, json: parse(text), retryAfterMs }
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error))
    throw new UpstreamError(`${host} answered ${status} ${message}`, retryAfterMs, { cause })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error('without JSON', { cause: error })
  }
}

async function readText(
  response: Response,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  if (!response.body) throw new Error('without a body')
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  // A `fetch` of somebody's own may not end the body when the signal aborts.
  const onAbort = (): void => void reader.cancel(signal.reason).catch(() => undefined)
  signal.addEventListener('abort', onAbort)
  let [text, bytes] = ['', 0]
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      bytes += value.byteLength
      if (bytes > maxBytes) break
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    throw new Error('and broke off', { cause: error })
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
  await reader.cancel()
  throw new Error(`with more than ${maxBytes} bytes`)
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

function followed(location: string, from: URL, hosts: readonly string[]): URL {
  if (!URL.canParse(location, from)) throw new Error(`${from.host} redirected to what is no URL`)
  const target = new URL(location, from)
  if (target.protocol === 'https:' && hosts.includes(target.host)) return target
  throw new Error(`${from.host} redirected to ${target.host}, which is not trusted`)
}
