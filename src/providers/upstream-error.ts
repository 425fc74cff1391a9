const MINUTE_MS = 60_000

/** Without a word of its own: a limit on requests per address lifts after 20 minutes, a refusal for good hardly sooner. */
const RETRY_DELAY_MS_BY_STATUS: Readonly<Record<number, number>> = {
  401: 15 * MINUTE_MS,
  403: 15 * MINUTE_MS,
  404: 15 * MINUTE_MS,
  410: 15 * MINUTE_MS,
  429: 20 * MINUTE_MS,
}

/** Causes may go round in a circle. */
const MAX_CAUSES = 5

/** Longer messages of runtimes are not searched, in characters. */
const MAX_SEARCHED_CHARACTERS = 500

/** What runtimes call a failure on the wire, as `ECONNREFUSED` or `CERT_HAS_EXPIRED`, and what `key.ts` does. */
const FAILURE_CODE =
  /^(?:E[A-Z]{3,20}|KEY_IN_URL|(?:CERT|DEPTH|ERR|HPE|SELF|UNABLE|UND|Z)_[A-Z_]{3,40})$/

const PROXY_STATUS = /Proxy (?:response|Authentication Required) \((\d{3})\)/

/** What the codes and messages of Node, Bun and Deno mean; the first that matches counts. */
const FAILURES: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/ENOTFOUND|EAI_|getaddrinfo|dns error|failed to lookup/i, 'its name cannot be resolved'],
  [/ECONNREFUSED|connection refused|unable to connect/i, 'the connection was refused'],
  [/EHOSTUNREACH|ENETUNREACH|unreachable/i, 'the network is unreachable'],
  [/bad port|port \d+ are blocked/i, 'its port is blocked'],
  [/certificate|CERT_|_CERT|self.signed|issuer/i, 'its certificate is not trusted'],
  [/EPROTO|ERR_SSL|\bSSL\b|handshake|corrupt message/i, 'there is no TLS connection'],
  [/_TIMEOUT|ETIMEDOUT|timed? ?out|no answer within/i, 'it took too long'],
  [/HTTPParser|HTTP\/1\.1 protocol|_HTTP_|InvalidHTTP|invalid HTTP/i, 'it does not speak HTTP'],
  [/Z_[A-Z]+_ERROR|zlib|gzip|brotli/i, 'its content cannot be decompressed'],
  [
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|connection reset|connection was closed|connection closed|side closed|from connection/i,
    'the connection was closed',
  ],
]

/**
 * An upstream that did not answer, refused, or answered with something else than data. Its message has nothing in it that
 * others wrote; the messages of its causes may have.
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  /** For how many ms it is to be left alone, where that is known. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * For how many ms an upstream that answered so is to be left alone: what its `Retry-After` says (seconds or a date, RFC
 * 9110 §10.2.3), with the clock at `now` (ms since the Unix epoch), else what is due after its status.
 */
export function retryDelayAfter({ status, headers }: Response, now: number): number | undefined {
  if (status === 200) return undefined
  const text = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // A date begins with the day of the week; the parser would also make one of '1.5'.
  const asked = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) - now : NaN
  return Number.isNaN(asked) ? RETRY_DELAY_MS_BY_STATUS[status] : asked
}

/**
 * Describes what `error`, which a `fetch` or a body of `host` has thrown, and its causes report of the wire: the end of a
 * message, or an empty text. The messages of runtimes themselves may quote an upstream, as a name in its certificate.
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
    // A name may look like anything.
    .replaceAll(host, '')
  const [, status] = PROXY_STATUS.exec(text) ?? []
  const [, known] = FAILURES.find(([pattern]) => pattern.test(text)) ?? []
  const words = status === undefined ? known : `the proxy answered with status ${status}`
  return [words && `: ${words}`, codes.length > 0 && ` (${codes.join(', ')})`]
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
