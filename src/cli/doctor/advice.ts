/** What trouble is called in reasons of events, and what to do about it; the first that fits counts. */
const ADVICE: readonly (readonly [trouble: RegExp, advice: string])[] = [
  [/the proxy/, 'look at HTTPS_PROXY or HTTP_PROXY: the proxy, its user and its password'],
  [
    /name cannot be resolved/,
    'nobody knows that name here: look at the URL, the network and its DNS server',
  ],
  [
    /certificate|TLS/,
    'the certificate is not trusted: look at the clock; where a firewall opens TLS, name its certificate in NODE_EXTRA_CA_CERTS (Deno: DENO_CERT)',
  ],
  [/quota-reached|answered .*429/, 'asked too often from this address: wait for 20 minutes'],
  [
    /answered .*(401|403)/,
    'this address may not ask: look whether a firewall answers instead, or ask the provider',
  ],
  [/answered .*(404|410)|unsupported-code/, 'there is no such path: look at the URL'],
  [/answered .*5\d\d/, 'it is in trouble itself: try again later'],
  [
    /without JSON|another form|redirected|answered for|not speak HTTP/,
    'something else answers there: look at the URL, or log in where the network asks for it',
  ],
  [
    /connection was refused|network is unreachable|port is blocked/,
    'nothing listens there: look at the URL, the network, its firewall, and the proxy if there is one',
  ],
  [
    /timed out|no answer within|took too long|connection was closed|broke off|did not answer/,
    'the connection fails: look at the network and its firewall; where they want a proxy, set HTTPS_PROXY',
  ],
]

/** For what fits nowhere. */
const OTHER_ADVICE = 'try again later'

/** What to do about an upstream at `host` that failed for `reason`. */
export function adviceFor(reason: string, host: string): string {
  // A name may look like anything.
  const words = host === '' ? reason : reason.replaceAll(host, '')
  return ADVICE.find(([trouble]) => trouble.test(words))?.[1] ?? OTHER_ADVICE
}

/** What to do about data that were refused. */
export const AFTER_REJECTION =
  'what it answered cannot be a market of today: look at the clock of this machine and at the URL; earlier rates stay in use'
