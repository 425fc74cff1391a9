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

/** A failed request, or a response without usable data. The message never quotes the upstream; its causes may. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  /** Backoff in ms, if known. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Returns the backoff in ms after a response received at `now` (ms since the Unix epoch): its `Retry-After` (seconds or a
 * date, RFC 9110 §10.2.3), or a default for its status.
 */
export function retryDelayAfter({ status, headers }: Response, now: number): number | undefined {
  if (status === 200) return undefined
  const text = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // A date begins with the day of the week; `Date.parse` would also accept '1.5'.
  const delay = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) - now : NaN
  return Number.isNaN(delay) ? RETRY_DELAY_MS_BY_STATUS[status] : delay
}

/**
 * Describes the network failure in `error` and its causes, thrown by a `fetch` or a body of `host`: the end of a message, or
 * an empty string. Does not quote messages of runtimes, which may contain upstream text, such as a name in a certificate.
 */
export function describeFailure(error: unknown, host: string): string {
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
