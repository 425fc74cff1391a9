/** Patterns of failure reasons with their advice; the first match counts. */
const ADVICE: readonly (readonly [reason: RegExp, advice: string])[] = [
  [/\bproxy\b/, 'check the proxy in HTTPS_PROXY or HTTP_PROXY: host, port, user name and password'],
  [/\bresolved?\b/, 'check the URL, the network and its DNS server'],
  [
    /certificate|TLS/,
    'check the system clock; if a firewall intercepts TLS, set NODE_EXTRA_CA_CERTS (Deno: DENO_CERT) to its certificate',
  ],
  [
    withStatus('429', 'quota-reached'),
    'too many requests from this address: try again in 20 minutes',
  ],
  [
    withStatus('401|403'),
    'access denied: check whether a firewall sent this response, or contact the provider',
  ],
  [withStatus('404|410', 'unsupported-code'), 'the path does not exist: check the URL'],
  [withStatus(String.raw`5\d\d`), 'the upstream itself fails: try again later'],
  [
    /JSON|unexpected format|redirected|another base|is not HTTP/,
    'the response is not from the provider: check the URL, or log in to the network if it requires a login',
  ],
  [
    /connection was refused|unreachable|blocked/,
    'nothing listens at this address: check the URL, the network, its firewall, and the proxy if there is one',
  ],
  [
    /timed out|no response|connection was closed|truncated body|request to/,
    'the connection fails: check the network and its firewall; if they require a proxy, set HTTPS_PROXY',
  ],
]

const OTHER_ADVICE = 'try again later'

function withStatus(codes: string, ...others: string[]): RegExp {
  return new RegExp([`(?:status|HTTP) (?:${codes})`, ...others].join('|'))
}

/** Returns the advice for an upstream at `host` that failed for `reason`. */
export function adviceFor(reason: string, host: string): string {
  // A host name may contain any of these words and numbers.
  const words = host === '' ? reason : reason.replaceAll(host, '')
  return ADVICE.find(([pattern]) => pattern.test(words))?.[1] ?? OTHER_ADVICE
}

/** The advice for data that failed the sanity checks. */
export const AFTER_REJECTION =
  "the response is not a plausible current market: check this machine's clock and the URL; earlier rates stay in use"
