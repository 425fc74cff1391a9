import { once } from 'node:events'

import { describe, expect, it } from 'vitest'

import { IS_SHORT } from '../system/processes.ts'
import { openSocket, sendRaw } from '../system/sockets.ts'
import type { SocketResponse } from '../system/sockets.ts'
import { HOSTS, runHost } from './hosts.ts'
import type { Host } from './hosts.ts'

type RawRequest = ReturnType<typeof raw>

/** A text that no response may repeat. */
const NONCE = 'evil.example'

/** A text that only responses with latest rates contain. */
const LATEST = '"disclaimer":'
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

/** Malformed and hostile requests, with the allowed statuses; `silent` allows to close the connection or send nothing. */
const RAW_REQUESTS = [
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
  outcomes: (number | 'silent')[],
  /** A text that a 200 must contain. */
  good: string = LATEST,
) {
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
const HIDDEN_RESPONSE = '"amount":4711,'

/**
 * Returns requests with another request hidden in or after their bodies, which parsers read as one or two depending on the
 * header that they use; `prefix` precedes every path.
 */
function hiddenRequests(prefix: string) {
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

const SLOW_CLIENTS = IS_SHORT ? 300 : 1_000

/** Hosts that own their HTTP/1 sockets: the edge owns those of a Worker. */
const SOCKET_OWNERS = HOSTS.filter(
  ({ name, openClient }) => name !== 'workerd' && openClient === undefined,
)

describe.each(SOCKET_OWNERS)('$name', (host) => {
  const { prefix = '' } = host
  const running = runHost(host)

  const conversionOf = (amount: number): string =>
    `GET ${prefix}/api/v1/convert?from=USD&to=USD&amount=${amount} HTTP/1.1\r\nHost: localhost\r\n\r\n`

  async function expectAlive(): Promise<void> {
    const target = `${prefix}/api/v1/latest`
    expect((await running.client.send({ method: 'GET', target })).status).toBe(200)
  }

  it('survives malformed and hostile requests', async () => {
    const faults = RAW_REQUESTS.map(async (request) => {
      const timeout = request.outcomes.includes('silent') ? 1_000 : 20_000
      const text = request.text.replace('/api', `${prefix}/api`)
      const response = await sendRaw(running.port, text, { timeout })
      const found = faultsOf(host, request, response)
      return found.map((fault) => `${request.name}: ${fault}: ${response.text.slice(0, 500)}`)
    })
    expect((await Promise.all(faults)).flat()).toEqual([])
    await expectAlive()
  })

  it('does not respond to a request hidden in another', async () => {
    const outcomes = hiddenRequests(prefix).map(async ({ name, text }) => {
      // Responses are in the order of their requests: a hidden request's response would precede the last one.
      const isComplete = (received: string): boolean => received.includes('"amount":815,')
      const waiting = { isComplete, nextTimeout: 500 }
      const response = await sendRaw(running.port, text + conversionOf(815), waiting)
      const isRefused = [200, 400, 405, 501].includes(response.status ?? 0)
      return isRefused && !response.text.includes(HIDDEN_RESPONSE) ? [] : [name, response]
    })
    expect((await Promise.all(outcomes)).flat()).toEqual([])
    await expectAlive()
  })

  it('responds to 100 pipelined requests in order', async () => {
    const amounts = Array.from({ length: 100 }, (_, index) => index + 1)
    const amountsIn = (received: string): number[] =>
      Array.from(received.matchAll(/"amount":(\d+),/g), ([, amount]) => Number(amount))
    const response = await sendRaw(running.port, amounts.map(conversionOf).join(''), {
      isComplete: (received) => amountsIn(received).length === 100,
    })
    expect(amountsIn(response.text)).toEqual(amounts)
  })

  it('responds without reading a body of 10 MB', async () => {
    const head = `POST ${prefix}/api/rates HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000`
    const response = await sendRaw(running.port, `${head}\r\n\r\n${'x'.repeat(10_000_000)}`)
    expect(response.status).toBe(405)
    await expectAlive()
  })

  it('responds to a client that closed its side of the connection', async () => {
    const socket = await openSocket(running.port)
    socket.end(
      `GET ${prefix}/api/v1/latest HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    )
    let received = ''
    for await (const chunk of socket) received += String(chunk)
    expect(received).toMatch(/^HTTP\/1\.1 200 [^]*"disclaimer":/)
  })

  it('survives clients that disconnect before and during their responses', async () => {
    const target = `${prefix}/api/v1/history?from=USD&to=EUR&period=5Y`
    for (let round = 0; round < 6; round += 1) {
      const socket = await openSocket(running.port)
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(5))
      if (round % 2 === 0) await once(socket, 'data')
      socket.resetAndDestroy()
    }
    await expectAlive()
  })

  it(`responds to other clients while ${SLOW_CLIENTS} clients are slow`, async () => {
    const slow = await Promise.all(
      Array.from({ length: SLOW_CLIENTS }, () => openSocket(running.port)),
    )
    for (const [index, socket] of slow.entries()) {
      socket.write(`GET ${prefix}/api/v1/latest HTTP/1.1\r\nHost: local${'x'.repeat(index % 50)}`)
    }
    const target = `${prefix}/api/v1/convert?from=USD&to=EUR`
    const others = Array.from({ length: 50 }, () => running.client.send({ method: 'GET', target }))
    const statuses = (await Promise.all(others)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    for (const socket of slow) socket.destroy()
    await expectAlive()
  })
})

function faultsOf(
  { scope }: Host,
  { outcomes, good }: RawRequest,
  response: SocketResponse,
): string[] {
  const { status, text } = response
  // A framework's own page of a 400 or 404 may contain the path.
  const mayRepeat = scope !== 'all' && (status === 400 || status === 404)
  return [
    outcomes.includes(status ?? 'silent') ? '' : `expected ${outcomes.join()}, got ${status}`,
    status !== 200 || text.includes(good) ? '' : `expected a body with ${good}`,
    mayRepeat || !text.includes(NONCE) ? '' : 'repeats a text of the request',
    /\bat .+:\d+:\d+/.test(text) ? 'shows a stack' : '',
  ].filter((fault) => fault !== '')
}
