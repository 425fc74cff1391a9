/** What an upstream's trouble looks like in the words of each runtime, and what to do about it; the first that fits counts. */
const ADVICE: readonly (readonly [trouble: RegExp, advice: string])[] = [
  [/\b407\b|proxy/i, 'look at the proxy, and its user and password, in HTTPS_PROXY or HTTP_PROXY'],
  [
    /ENOTFOUND|EAI_AGAIN|getaddrinfo|dns error|name resolution|failed to lookup/i,
    'the name is not known here: look at the network, the DNS server and the URL',
  ],
  [
    /cert|self.signed|issuer|TLS|SSL|EPROTO/i,
    'the certificate is not trusted: look at the clock, and if a proxy opens TLS, name its certificate in NODE_EXTRA_CA_CERTS (DENO_CERT for Deno)',
  ],
  [/quota-reached|\b429\b/i, 'asked too often from this address: wait for 20 minutes'],
  [
    /\b(401|403)\b/,
    'this address may not ask: look whether a firewall answers, or ask the provider',
  ],
  [/\b(404|410)\b|unsupported-code/, 'there is no such path: look at the URL'],
  [/\b5\d\d\b/, 'the provider is in trouble itself: try again later'],
  [
    /without JSON|another form|redirected|answered for/i,
    'something else answers there: look at the URL, or log in where the network asks for it',
  ],
  [
    /ECONNREFUSED|connection refused|unable to connect|EHOSTUNREACH|ENETUNREACH/i,
    'nothing listens there, or it cannot be reached: look at the URL, the network and the firewall',
  ],
  [
    /no answer within|ETIMEDOUT|timed? ?out|ECONNRESET|socket|broke off|did not answer/i,
    'it takes too long or breaks off: look at the network and the firewall; where a proxy is needed, set HTTPS_PROXY',
  ],
]

/** For what fits nowhere. */
const OTHERWISE = 'try again later; with ratesmith serve --log text every attempt is told'

/** What to do about an upstream that failed for `reason`. */
export function adviceFor(reason: string): string {
  return ADVICE.find(([trouble]) => trouble.test(reason))?.[1] ?? OTHERWISE
}

/** What to do about data that were refused. */
export const AFTER_REFUSAL =
  'what it answered cannot be a market of today: look at the clock of this machine and at the URL; earlier rates stay in use'
