import { once } from 'node:events'

import { describe, expect, it } from 'vitest'

import { send } from '../catalogue/catalogue.ts'
import type { RequestData, ResponseData } from '../catalogue/catalogue.ts'
import { IS_SHORT } from '../system/processes.ts'
import { openSocket, sendRaw } from '../system/sockets.ts'
import type { SocketResponse } from '../system/sockets.ts'
import { HOSTS, runHost } from './hosts.ts'
import type { Host } from './hosts.ts'
import { createConformanceHandler } from './market.ts'
import { conformanceRequests } from './requests.ts'

describe.each(HOSTS)('$name', (host) => {
  const { prefix = '' } = host
  const running = runHost(host)

  it('sends the same bytes as the handler for every request', async () => {
    const exchanges = await exchangesBelow(prefix)
    expect(exchanges.length).toBeGreaterThan(600)
    const faults: string[] = []
    const queue = exchanges.values()
    const sendAll = async (): Promise<void> => {
      for (const exchange of queue) {
        const outcome = await running.client.send(exchange.request).catch((error: Error) => error)
        faults.push(...findFaults(host, exchange, outcome))
      }
    }
    await Promise.all([sendAll(), sendAll(), sendAll()])
    expect(faults).toEqual([])
  })

  it('ends the response where a year of days cannot be loaded, and serves others', async () => {
    const send = (query: string) => {
      return running.client.send({ method: 'GET', target: `${prefix}/api/v1/days${query}` })
    }
    expect(await send('?start=2019-01-01&end=2019-01-02&source=incomplete')).toMatchObject({
      status: 200,
      body: expect.stringMatching(/^\{"date":"2019-01-01".+\n\{"date":"2019-01-02".+\n$/),
    })
    for (const [format, line] of [
      ['ndjson', /^\{"error":\{.+\}\}$/],
      ['csv', /^error,provider_unavailable\r$/],
    ] as const) {
      // After the first parts.
      const query = `?start=2016-01-01&source=incomplete&format=${format}`
      const outcome = await send(query).catch((error: Error) => error)
      const end = outcome instanceof Error ? 'cut' : outcome.body.split('\n').at(-2)
      // Workerd makes a response that fails look complete.
      expect(end).toMatch(host.name === 'workerd' ? line : /^cut$/)
    }
    expect(await send('?start=2018-01-02&source=incomplete')).toMatchObject({ status: 502 })
  })

  it('redeems quotes of this process, which redeems its quotes', async () => {
    const handler = createConformanceHandler(`${prefix}/api`)
    const [here, there] = [
      (target: string) => send(handler, { method: 'GET', target: prefix + target }, 'answer'),
      (target: string) => running.client.send({ method: 'GET', target: prefix + target }),
    ]
    for (const [make, redeem] of [
      [here, there],
      [there, here],
      [there, there],
    ] as const) {
      const made = await make('/api/v1/quote?from=USD&to=EUR,JPY&amount=99.90&context=Zo%C3%AB+1')
      expect(made).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
      const path = `/api/v1/convert?quote=${JSON.parse(made.body).quote}&context=Zo%C3%AB`
      const { status, headers, body } = await redeem(`${path}+1`)
      expect({ status, body }).toEqual({ status: 200, body: made.body })
      expect(headers['cache-control']).toBe('no-store')
      expect(await redeem(path)).toMatchObject({
        status: 400,
        body: expect.stringContaining('invalid_quote'),
      })
    }
  })

  it('serves tools to agents as a route', async () => {
    const params = { name: 'convert', arguments: { from: 'USD', to: 'EUR', amount: '99.90' } }
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
    const accept = 'application/json, text/event-stream'
    const post = (headers: object, body: string) => {
      const all = { accept, 'content-type': 'application/json', ...headers }
      const target = `${prefix}/api/mcp`
      return running.client.send({ method: 'POST', target, headers: all, body })
    }
    const handler = createConformanceHandler(`${prefix}/api`)
    const converted = await handler.rates.convert(params.arguments)
    const { status, body } = await post({}, JSON.stringify(message))
    const { id, result } = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? '{}')
    expect([status, id, result.structuredContent]).toEqual([200, 7, converted])
    const foreign = await post({ origin: 'https://other.example' }, JSON.stringify(message))
    expect(foreign.status).toBe(403)
  })

  // The edge owns the sockets of a Worker.
  if (host.name !== 'workerd' && host.openClient === undefined) tryRawRequests(host, running)
})

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

/** `good` is a text that a 200 must contain. */
function raw(name: string, text: string, outcomes: (number | 'silent')[], good = LATEST) {
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

/** Tries what only sockets can send. */
function tryRawRequests(host: Host, running: ReturnType<typeof runHost>): void {
  const { prefix = '' } = host

  const conversionOf = (amount: number): string =>
    `GET ${prefix}/api/v1/convert?from=USD&to=USD&amount=${amount} HTTP/1.1\r\nHost: localhost\r\n\r\n`

  async function expectAlive(): Promise<void> {
    const target = `${prefix}/api/v1/latest`
    expect((await running.client.send({ method: 'GET', target })).status).toBe(200)
  }

  it('survives malformed and hostile requests, and does not respond to one hidden in another', async () => {
    const faults = RAW_REQUESTS.map(async (request) => {
      const timeout = request.outcomes.includes('silent') ? 1_000 : 20_000
      const text = request.text.replace('/api', `${prefix}/api`)
      const response = await sendRaw(running.port, text, { timeout })
      const found = faultsOf(host, request, response)
      return found.map((fault) => `${request.name}: ${fault}: ${response.text.slice(0, 500)}`)
    })
    const answered = hiddenRequests(prefix).map(async ({ name, text }) => {
      // Responses are in the order of their requests: a hidden request's response would precede the last one.
      const isComplete = (received: string): boolean => received.includes('"amount":815,')
      const waiting = { isComplete, nextTimeout: 500 }
      const response = await sendRaw(running.port, text + conversionOf(815), waiting)
      const isRefused = [200, 400, 405, 501].includes(response.status ?? 0)
      return isRefused && !response.text.includes(HIDDEN_RESPONSE) ? [] : [name, response]
    })
    expect((await Promise.all([...faults, ...answered])).flat()).toEqual([])
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
}

function faultsOf(
  { scope }: Host,
  { outcomes, good }: RawRequest,
  { status, text }: SocketResponse,
) {
  // A framework's own page of a 400 or 404 may contain the path.
  const mayRepeat = scope !== 'all' && (status === 400 || status === 404)
  return [
    outcomes.includes(status ?? 'silent') ? '' : `expected ${outcomes.join()}, got ${status}`,
    status !== 200 || text.includes(good) ? '' : `expected a body with ${good}`,
    mayRepeat || !text.includes(NONCE) ? '' : 'repeats a text of the request',
    /\bat .+:\d+:\d+/.test(text) ? 'shows a stack' : '',
  ].filter((fault) => fault !== '')
}

type Outcome = ResponseData | Error

const CONNECTION_HEADERS = /^(connection|content-length|date|keep-alive|transfer-encoding)$/

/** A server may reject a larger head; Node's own limit is about twice as much. */
const LARGEST_HEAD = 8_000

/** A request, the handler's response, and whether the path is the handler's. */
interface Exchange {
  request: RequestData
  expected: ResponseData
  matched: boolean
}

const exchanges: Record<string, Promise<Exchange[]>> = {}

/** Returns what hosts with this prefix are tried with. */
const exchangesBelow = (prefix: string): Promise<Exchange[]> =>
  (exchanges[prefix] ??= createExchanges(prefix))

async function createExchanges(prefix: string): Promise<Exchange[]> {
  const handler = createConformanceHandler(`${prefix}/api`)
  await handler.refresh()
  const made: Exchange[] = []
  for (const request of await conformanceRequests(handler, prefix)) {
    const { method, target } = request
    const { matched } = await handler.answer({ method, target, header: () => null })
    made.push({ request, matched, expected: await send(handler, request, 'answer') })
  }
  return made
}

function findFaults(host: Host, exchange: Exchange, outcome: Outcome): string[] {
  const { request, expected, matched } = exchange
  const { method, target } = request
  const isSame = toText(outcome) === toText(expected) && hasRightLength(outcome, expected)
  const mustBeApps = host.scope === 'own' && !matched
  if (isSame && !mustBeApps) return []
  if (isAllowedRejection(request, outcome)) return []
  if (!matched && mayBeApps(host, target, outcome) && !isSame) return []
  const [got, wanted] = [outcome, expected].map((each) => toText(each).slice(0, 400))
  return [
    `${method} ${target.slice(0, 100)}: got ${got}\ninstead of ${mustBeApps ? 'the app’s own' : wanted}`,
  ]
}

/** Returns whether the `Content-Length` of `outcome` is that of its body, or for `HEAD` of the body of `GET`. */
function hasRightLength(outcome: Outcome, expected: ResponseData): boolean {
  if (outcome instanceof Error) return false
  const { status, headers } = outcome
  const sent = headers['content-length']
  if (sent === undefined) return true
  const length = expected.headers['content-length'] ?? String(Buffer.byteLength(expected.body))
  return sent === length && status !== 204 && status !== 304
}

/** Returns whether `outcome` is a rejection that a server may send before its handler runs. */
function isAllowedRejection({ method, target, headers }: RequestData, outcome: Outcome): boolean {
  const size = JSON.stringify([target, headers]).length
  // Servers may reject an unknown method.
  if (size <= LARGEST_HEAD && method !== 'FOO') return false
  return outcome instanceof Error || [400, 413, 414, 431, 501].includes(outcome.status)
}

/** Returns whether the app around the handler may respond to `target`, and `outcome` is a harmless error of the app. */
function mayBeApps({ scope, prefix = '' }: Host, target: string, outcome: Outcome): boolean {
  if (scope === 'all' || outcome instanceof Error) return false
  const { status, headers, body } = outcome
  const [path = ''] = target.split('?', 1)
  // Some frameworks reject such a path themselves.
  const isMalformed = !isDecodable(path)
  const isPassedOn = scope === 'own' || isMalformed || !path.startsWith(`${prefix}/api/`)
  const isHarmless =
    !/\bat .+:\d+:\d+/.test(body) &&
    headers['access-control-allow-origin'] === undefined &&
    !/public|max-age/.test(headers['cache-control'] ?? '')
  return isPassedOn && isHarmless && (status === 404 || (status === 400 && isMalformed))
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== undefined
  } catch {
    return false
  }
}

function toText(outcome: Outcome): string {
  if (outcome instanceof Error) return String(outcome)
  const headers = Object.entries(outcome.headers)
    .filter(([name]) => !CONNECTION_HEADERS.test(name))
    .map(([name, value]) => `${name}: ${value}`)
  return (
    [outcome.status, ...headers.sort(), '', outcome.body]
      .join('\n')
      // The order of requests differs.
      .replace(/rates; (?:fwd=miss|hit; ttl=\d+)/, 'rates')
      .replace(/("nextAttemptAt":)\d+/g, '$1…')
  )
}
