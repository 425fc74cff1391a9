import { parseLongJson, runInSlices, yieldToEventLoop } from '../async.ts'
import type { LongJson } from '../async.ts'
import { createByteBuffer } from '../byte-buffer.ts'

export interface UpstreamRequest {
  fetch: typeof fetch
  url: string
  /** Aborts the request, from connecting to the last byte. */
  signal: AbortSignal
  /** Returns the current time, in ms since the Unix epoch. */
  now: () => number
  /** Limit of the body after decompression. */
  maxBytes: number
  /** Hosts to which redirects are followed, over https only. */
  redirectHosts: readonly string[]
  /** Headers besides `accept`, such as a key; never sent to another host (default none). */
  headers?: Readonly<Record<string, string>> | undefined
  /** Body of a POST request, which is never redirected (default none). */
  body?: string | undefined
  /** Encoding of a text, as in `TextDecoder` (default `utf-8`). */
  encoding?: string | undefined
}

export interface UpstreamResponse<Body = unknown> {
  host: string
  status: number
  body: Body
  /** Backoff in ms, if the status is not 200 and it is known. */
  retryAfterMs?: number | undefined
}

/** Version and homepage of package.json. */
const USER_AGENT = 'ratesmith/0.2.0 (+https://ratesmith.github.io/ratesmith/)'

/** `Uint8Array<ArrayBuffer>`, in a form that TypeScript before 5.7 supports. */
type Bytes = ReturnType<typeof Uint8Array.of>

const MAX_REDIRECTS = 2

/**
 * Reads JSON from an untrusted upstream, with limits of time and size, without cookies and caches, and following redirects
 * only to known hosts. Long JSON of the form `form` is parsed in slices.
 *
 * @throws {UpstreamError} naming the host and the reason, without quoting the upstream
 */
export async function readJson(
  request: UpstreamRequest,
  form?: LongJson,
): Promise<UpstreamResponse> {
  return readResponse(request, 'application/json', async (response) =>
    parse(await textOf(response, request), request.signal, form),
  )
}

export async function readText(
  request: UpstreamRequest,
  accept: string,
): Promise<UpstreamResponse<string>> {
  return readResponse(request, accept, (response) => textOf(response, request))
}

export async function readBytes(
  request: UpstreamRequest,
  accept: string,
): Promise<UpstreamResponse<Bytes>> {
  return readResponse(request, accept, (response) => bytesOf(response, request))
}

async function readResponse<Body>(
  request: UpstreamRequest,
  accept: string,
  bodyOf: (response: Response) => Promise<Body>,
): Promise<UpstreamResponse<Body>> {
  const first = new URL(request.url)
  let url = first
  for (let redirects = 0; ; redirects += 1) {
    const own = url.host === first.host ? request.headers : {}
    // Some browsers would first request the permission of every upstream to send it.
    const isBrowser = globalThis.navigator?.userAgent?.startsWith('Mozilla/')
    const headers = { ...own, accept, ...(!isBrowser && { 'user-agent': USER_AGENT }) }
    const response = await send(request, url, headers)
    const location = isRedirect(response.status) && response.headers.get('location')
    if (!location) return toUpstreamResponse(response, request.now(), url, bodyOf)
    await response.body?.cancel()
    if (request.body !== undefined) throw new UpstreamError(`${url.host} redirected a POST request`)
    if (redirects === MAX_REDIRECTS)
      throw new UpstreamError(`${url.host} redirected more than ${MAX_REDIRECTS} times`)
    url = redirectTarget(location, url, request.redirectHosts)
  }
}

async function send(
  { fetch, signal, body }: UpstreamRequest,
  url: URL,
  headers: Record<string, string>,
): Promise<Response> {
  try {
    const init = { headers, cache: 'no-store', redirect: 'manual', signal } as const
    return await fetch(url.href, body === undefined ? init : { ...init, method: 'POST', body })
  } catch (error) {
    const message = `request to ${url.host} failed${describeFailure(error, url.host)}`
    throw new UpstreamError(message, { cause: error })
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
    const text = `${host} returned HTTP ${status} ${message}`
    throw new UpstreamError(text, { status, retryAfterMs, cause })
  }
}

async function parse(text: string, signal: AbortSignal, form?: LongJson): Promise<unknown> {
  try {
    if (!form) return JSON.parse(text)
    return await runInSlices(parseLongJson(text, form), yieldToEventLoop, signal)
  } catch (error) {
    throw new Error('with invalid JSON', { cause: error })
  }
}

async function textOf(response: Response, request: UpstreamRequest): Promise<string> {
  const bytes = await bytesOf(response, request)
  return new TextDecoder(request.encoding).decode(bytes)
}

async function bytesOf(
  response: Response,
  { url, maxBytes, signal }: UpstreamRequest,
): Promise<Bytes> {
  if (!response.body) throw new Error('without a body')
  const reader = response.body.getReader()
  // A custom `fetch` may not end the body when the signal aborts.
  const onAbort = (): void => void reader.cancel(signal.reason).catch(() => undefined)
  signal.addEventListener('abort', onAbort)
  const body = createByteBuffer(maxBytes)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return body.bytes()
      if (body.size() + value.length > maxBytes) break
      body.append(value)
    }
  } catch (error) {
    const reason = describeFailure(error, new URL(url).host)
    throw new Error(`with a truncated body${reason}`, { cause: error })
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
  await reader.cancel()
  throw new Error(`with more than ${maxBytes} bytes`)
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

function redirectTarget(location: string, from: URL, hosts: readonly string[]): URL {
  if (!URL.canParse(location, from)) {
    throw new UpstreamError(`${from.host} redirected to an invalid URL`)
  }
  const target = new URL(location, from)
  if (target.protocol === 'https:' && hosts.includes(target.host)) return target
  throw new UpstreamError(
    `${from.host} redirected to a host that is not trusted; expected https and ${hosts.join(' or ')}`,
  )
}

const MINUTE_MS = 60_000

/** Without `Retry-After`: rate limits per address usually end after 20 minutes, other errors hardly sooner. */
const RETRY_DELAY_MS_BY_STATUS: Readonly<Record<number, number>> = {
  401: 15 * MINUTE_MS,
  403: 15 * MINUTE_MS,
  404: 15 * MINUTE_MS,
  410: 15 * MINUTE_MS,
  429: 20 * MINUTE_MS,
}

/** A limit, because causes may be circular. */
const MAX_CAUSES = 5

const MAX_SEARCHED_CHARACTERS = 500

/** Codes of network failures in the runtimes, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`, and the code of `key.ts`. */
const FAILURE_CODE =
  /^(?:E[A-Z]{3,20}|KEY_IN_URL|(?:CERT|DEPTH|ERR|HPE|SELF|UNABLE|UND|Z)_[A-Z_]{3,40})$/

const PROXY_STATUS = /Proxy (?:response|Authentication Required) \((\d{3})\)/

/** Meanings of the codes and messages of Node, Bun and Deno; the first match counts. */
const FAILURES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/ENOTFOUND|EAI_|getaddrinfo|dns error|failed to lookup/i, 'the host name cannot be resolved'],
  [/ECONNREFUSED|connection refused|unable to connect/i, 'the connection was refused'],
  [/EHOSTUNREACH|ENETUNREACH|unreachable/i, 'the network is unreachable'],
  [/bad port|port \d+ are blocked/i, 'the port is blocked'],
  [/certificate|CERT_|_CERT|self.signed|issuer/i, 'the certificate is not trusted'],
  [/EPROTO|ERR_SSL|\bSSL\b|handshake|corrupt message/i, 'the TLS handshake failed'],
  [/_TIMEOUT|ETIMEDOUT|timed? ?out/i, 'timed out'],
  [/HTTPParser|HTTP\/1\.1 protocol|_HTTP_|InvalidHTTP|invalid HTTP/i, 'the response is not HTTP'],
  [/Z_[A-Z]+_ERROR|zlib|gzip|brotli/i, 'the body cannot be decompressed'],
  [
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|connection reset|connection was closed|connection closed|side closed|from connection/i,
    'the connection was closed',
  ],
]

interface UpstreamErrorOptions extends ErrorOptions {
  status?: number | undefined
  /** Backoff in ms, if known. */
  retryAfterMs?: number | undefined
}

/** A failed request, or a response without usable data. The message never quotes the upstream; its causes may. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  /** HTTP status of the response, if it is another one than 200. */
  readonly status: number | undefined
  /** Backoff in ms, if known. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, { status, retryAfterMs, ...options }: UpstreamErrorOptions = {}) {
    super(message, options)
    this.status = status === 200 ? undefined : status
    this.retryAfterMs = retryAfterMs
  }
}

/** @throws {UpstreamError} if the status is not 200 */
export function requireBody<Body>(response: UpstreamResponse<Body>): Body {
  const { host, status, body, retryAfterMs } = response
  if (status === 200) return body
  throw new UpstreamError(`${host} returned HTTP ${status}`, { status, retryAfterMs })
}

/** In ms; `now` in ms since the Unix epoch. By `Retry-After` (seconds or a date, RFC 9110 §10.2.3), or its status. */
function retryDelayAfter({ status, headers }: Response, now: number): number | undefined {
  if (status === 200) return undefined
  const text = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // A date begins with the day of the week; `Date.parse` would also accept '1.5'.
  const delay = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) - now : NaN
  return Number.isNaN(delay) ? RETRY_DELAY_MS_BY_STATUS[status] : delay
}

/** Does not quote messages of runtimes, which may contain upstream text, such as a name in a certificate. */
function describeFailure(error: unknown, host: string): string {
  const errors = causesOf(error)
  const codes = errors.flatMap(({ code }) =>
    typeof code === 'string' && FAILURE_CODE.test(code) ? [code] : [],
  )
  const text = errors
    .map(({ name, message, code }) =>
      [name, code, message].join(' ').slice(0, MAX_SEARCHED_CHARACTERS),
    )
    .join('\n')
    // A host name may match any pattern.
    .replaceAll(host, '')
  const [, status] = PROXY_STATUS.exec(text) ?? []
  const [, known] = FAILURES.find(([pattern]) => pattern.test(text)) ?? []
  const reason = status === undefined ? known : `the proxy returned HTTP ${status}`
  return [reason && `: ${reason}`, codes.length > 0 && ` (${codes.join(', ')})`]
    .filter(Boolean)
    .join('')
}

function causesOf(error: unknown): (Error & { code?: unknown })[] {
  const errors: Error[] = []
  for (let each = error; each instanceof Error && errors.length < MAX_CAUSES; each = each.cause) {
    errors.push(each)
  }
  return errors
}
