/** The bytes that a client writes to a socket, and the allowed outcomes. */
export interface RawRequest {
  name: string
  text: string
  /** Allowed statuses; `silent` if the server may also close the connection or send nothing. */
  outcomes: (number | 'silent')[]
  /** A text that a 200 must contain. */
  good: string
}

/** A text that no response may repeat. */
export const NONCE = 'evil.example'

/** A text that only responses with latest rates contain. */
const LATEST = '"disclaimer":'
/** For requests that must not get a 200. */
const NOTHING = '(nothing)'

const CHUNKED = 'Transfer-Encoding: chunked'
const OTHER_CODING = 'Transfer-Encoding: x'
const LARGE_HEADER = `X-A: ${'a'.repeat(100_000)}`
const WEB_SOCKET = [
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Version: 13',
]

/** Malformed and hostile requests. */
export const RAW_REQUESTS: readonly RawRequest[] = [
  raw('TRACE', to('/api/v1/latest', 'TRACE'), [400, 405, 501], NOTHING),
  raw('CONNECT', to(`${NONCE}:443`, 'CONNECT'), [400, 404, 405, 501, 'silent'], NOTHING),
  raw('a lower-case method', to('/api/v1/latest', 'get'), [400, 405, 501, 'silent'], NOTHING),
  raw('OPTIONS *', to('*', 'OPTIONS'), [200, 204, 400, 404], ''),

  raw('an absolute target', to(`http://${NONCE}/api/v1/latest`), [200, 400, 404], LATEST),
  raw('an absolute target of HTTPS', to(`https://${NONCE}:8443/api/v1/latest`), [200, 400, 404]),
  raw('another scheme', to(`ftp://${NONCE}/api/v1/latest`), [400, 404], NOTHING),
  raw('two slashes at the start', to(`//${NONCE}/api/v1/latest`), [400, 404], NOTHING),
  raw('dot segments', to('/api/v1/x/../latest'), [200]),
  raw('dot segments that lead out', to('/api/v1/../../etc/passwd'), [400, 404], NOTHING),
  raw('backslashes', to('/api\\v1\\latest'), [200, 400, 404]),
  raw('a fragment', to('/api/v1/latest#/api/rates'), [200, 400]),
  raw('non-ASCII letters', to('/api/v1/latest?base=ＵＳＤ'), [400], NOTHING),
  raw('a space', to('/api/v1/latest?base=U D'), [400, 404, 505], NOTHING),
  raw('NUL', to('/api/v1/latest\0'), [400, 404, 505, 'silent'], NOTHING),

  raw('a Host with a path', latest(['Host: localhost/api/rates?']), [200, 400]),
  raw('a Host with a query', latest([`Host: ${NONCE}?base=EUR&`]), [200, 400], '"base":"USD"'),
  raw('a Host with a user', latest([`Host: user@${NONCE}`]), [200, 400]),
  raw('a Host with a script', latest([`Host: <script>${NONCE}</script>`]), [200, 400, 404]),
  raw('half an address as Host', latest(['Host: [::1']), [200, 400]),
  raw('an empty Host', latest(['Host:']), [200, 400]),
  raw('two Hosts', latest(['Host: localhost', `Host: ${NONCE}`]), [200, 400]),
  raw('HTTP/1.0 without a Host', 'GET /api/v1/latest HTTP/1.0\r\n\r\n', [200, 400]),

  raw('control characters', withHeaders(['X-Meta: \u0001\u0007']), [200, 400]),
  raw('a header of two lines', withHeaders(['X-A: 1', ' 2']), [200, 400]),
  raw('one header twice', withHeaders(['If-None-Match: "a"', 'If-None-Match: "b"']), [200]),
  raw('2,000 headers', withHeaders(Array.from({ length: 2_000 }, () => 'X-A: 1')), [200, 400, 431]),
  raw('100 kB in a header', withHeaders([LARGE_HEADER]), [400, 413, 431, 'silent']),
  raw('a header named __proto__', withHeaders(['__proto__: 1']), [200, 400]),
  raw('an upgrade to a web socket', withHeaders(WEB_SOCKET), [200, 400, 426]),

  raw(
    'a length and chunks',
    `${withHeaders(['Content-Length: 6', CHUNKED])}0\r\n\r\nX`,
    [200, 400],
  ),
  raw('two codings', `${withHeaders([CHUNKED, OTHER_CODING])}0\r\n\r\n`, [200, 400, 501]),
  raw('a negative length', withHeaders(['Content-Length: -1']), [400, 'silent']),
  raw('a body that never comes', withHeaders(['Content-Length: 10485760']), [200, 400, 413]),
  raw('a body without an end', `${withHeaders([CHUNKED], 'POST')}5\r\naaaaa\r\n`, [405], NOTHING),

  raw('HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 505, 'silent'], NOTHING),
  raw('TLS', '\u0016\u0003\u0001\u0002\0\u0001', [400, 'silent'], NOTHING),
  raw('line ends alone', '\r\n'.repeat(1_000), [400, 'silent'], NOTHING),
  raw('noise', 'ÿþ\0{}[]'.repeat(1_000), [400, 414, 431, 505, 'silent'], NOTHING),
]

function raw(
  name: string,
  text: string,
  outcomes: RawRequest['outcomes'],
  good: string = LATEST,
): RawRequest {
  return { name, text, outcomes, good }
}

function to(target: string, method = 'GET'): string {
  const about = `X-Nonce: ${NONCE}\r\nConnection: close`
  return `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${about}\r\n\r\n`
}

function withHeaders(headers: string[], method = 'GET'): string {
  return latest(['Host: localhost', ...headers], method)
}

function latest(headers: string[], method = 'GET'): string {
  return `${method} /api/v1/latest HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`
}

/** A text that only the response to a hidden request contains. */
export const HIDDEN_RESPONSE = '"amount":4711,'

/**
 * Returns requests with another request hidden in or after their bodies, which parsers read as one or two depending on the
 * header that they use; `prefix` precedes every path.
 */
export function hiddenRequests(prefix: string) {
  const hidden = `GET ${prefix}/api/v1/convert?from=USD&to=USD&amount=4711 HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const length = `Content-Length: ${hidden.length}`
  const chunks = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
  const behind = `0\r\n\r\n${hidden}`

  function of(name: string, headers: string[], body: string, method = 'POST') {
    const head = [`${method} ${prefix}/api/v1/latest HTTP/1.1`, 'Host: localhost', ...headers]
    return { name, text: `${head.join('\r\n')}\r\n\r\n${body}` }
  }

  return [
    of('a body of its length', [length], hidden),
    of('a body of its length, of GET', [length], hidden, 'GET'),
    of('chunks', [CHUNKED], chunks),
    of('chunks, of GET', [CHUNKED], chunks, 'GET'),
    of('text after the chunks, by a length', ['Content-Length: 5', CHUNKED], behind),
    of('chunks, by a length', [CHUNKED, 'Content-Length: 4'], chunks),
    of('text after the chunks, by another coding', [CHUNKED, OTHER_CODING], behind),
    of('a body, by a coding with a space', [length, 'Transfer-Encoding : chunked'], hidden),
    of('a body, by a coding with a tab', [length, 'Transfer-Encoding:\u000bchunked'], hidden),
    of('a body, by two lengths', ['Content-Length: 0', length], hidden),
    of('a body, by a length with a sign', [`Content-Length: +${hidden.length}`], hidden),
  ]
}
