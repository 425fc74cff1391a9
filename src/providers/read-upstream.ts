import { parseLongJson } from '../rates/long-json.ts'
import type { LongJson } from '../rates/long-json.ts'
import { runInSlices } from '../rates/slices.ts'
import { yieldToEventLoop } from '../runtime.ts'
import { UpstreamError, describeFailure, retryDelayAfter } from './upstream-error.ts'

/** One GET of an upstream. */
export interface UpstreamRequest {
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
  /** What the upstream is to be told beside what is accepted, such as a key; never told to another host (default nothing). */
  headers?: Readonly<Record<string, string>> | undefined
}

/** What the upstream answered: its status, and its body whatever the status. */
export interface UpstreamResponse<Body = unknown> {
  /** Who answered, for messages. */
  host: string
  status: number
  body: Body
  /** For how many ms it wants to be left alone, where the status is not 200 and that is known. */
  retryAfterMs?: number | undefined
}

/** A `Uint8Array<ArrayBuffer>`, in words that compilers before TypeScript 5.7 know as well. */
type Bytes = ReturnType<typeof Uint8Array.of>

const MAX_REDIRECTS = 2

/**
 * Reads JSON from an upstream that is not trusted: bounded in time and size, without cookies or caches on the way, and
 * following redirects only to known hosts. Long JSON of the form `form` is parsed with pauses.
 *
 * @throws {UpstreamError} naming the upstream's host and what went wrong, without a word of the upstream's
 */
export async function readJson(read: UpstreamRequest, form?: LongJson): Promise<UpstreamResponse> {
  return readResponse(read, 'application/json', async (response) =>
    parse(await textOf(response, read), read.signal, form),
  )
}

/** Reads a text as `readJson` reads JSON, asking for the media type `accept`. */
export async function readText(
  read: UpstreamRequest,
  accept: string,
): Promise<UpstreamResponse<string>> {
  return readResponse(read, accept, (response) => textOf(response, read))
}

/** Reads bytes as `readJson` reads JSON, asking for the media type `accept`. */
export async function readBytes(
  read: UpstreamRequest,
  accept: string,
): Promise<UpstreamResponse<Bytes>> {
  return readResponse(read, accept, async (response) => {
    const chunks: Uint8Array<ArrayBuffer>[] = []
    await eachChunk(response, read, (chunk) => chunks.push(chunk))
    return new Uint8Array(await new Blob(chunks).arrayBuffer())
  })
}

async function readResponse<Body>(
  read: UpstreamRequest,
  accept: string,
  bodyOf: (response: Response) => Promise<Body>,
): Promise<UpstreamResponse<Body>> {
  const first = new URL(read.url)
  let url = first
  for (let redirects = 0; ; redirects += 1) {
    const headers = { ...(url.host === first.host ? read.headers : {}), accept }
    const response = await get(read, url, headers)
    const location = isRedirect(response.status) && response.headers.get('location')
    if (!location) return toUpstreamResponse(response, read.now(), url, bodyOf)
    await response.body?.cancel()
    if (redirects === MAX_REDIRECTS)
      throw new UpstreamError(`${url.host} redirected once too often`)
    url = followed(location, url, read.redirectHosts)
  }
}

async function get(
  { fetch, signal }: UpstreamRequest,
  url: URL,
  headers: Record<string, string>,
): Promise<Response> {
  try {
    return await fetch(url.href, { headers, cache: 'no-store', redirect: 'manual', signal })
  } catch (error) {
    const message = `${url.host} did not answer${describeFailure(error, url.host)}`
    throw new UpstreamError(message, undefined, { cause: error })
  }
}

async function toUpstreamResponse<Body>(
  response: Response,
  now: number,
  { host }: URL,
  bodyOf: (response: Response) => Promise<Body>,
): Promise<UpstreamResponse<Body>> {
  const { status } = response
  const retryAfterMs = retryDelayAfter(response, now)
  try {
    return { host, status, body: await bodyOf(response), retryAfterMs }
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error))
    throw new UpstreamError(`${host} answered ${status} ${message}`, retryAfterMs, { cause })
  }
}

async function parse(text: string, signal: AbortSignal, form?: LongJson): Promise<unknown> {
  try {
    if (!form) return JSON.parse(text)
    return await runInSlices(parseLongJson(text, form), yieldToEventLoop, signal)
  } catch (error) {
    throw new Error('without JSON', { cause: error })
  }
}

async function textOf(response: Response, read: UpstreamRequest): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  await eachChunk(response, read, (chunk) => {
    text += decoder.decode(chunk, { stream: true })
  })
  return text + decoder.decode()
}

async function eachChunk(
  response: Response,
  { url, maxBytes, signal }: UpstreamRequest,
  take: (chunk: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  if (!response.body) throw new Error('without a body')
  const reader = response.body.getReader()
  // A `fetch` of somebody's own may not end the body when the signal aborts.
  const onAbort = (): void => void reader.cancel(signal.reason).catch(() => undefined)
  signal.addEventListener('abort', onAbort)
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.byteLength
      if (bytes > maxBytes) break
      take(value)
    }
  } catch (error) {
    throw new Error(`and broke off${describeFailure(error, new URL(url).host)}`, { cause: error })
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
  if (!URL.canParse(location, from)) {
    throw new UpstreamError(`${from.host} redirected to something other than a URL`)
  }
  const target = new URL(location, from)
  if (target.protocol === 'https:' && hosts.includes(target.host)) return target
  throw new UpstreamError(`${from.host} redirected to a host that is not trusted`)
}
