// The adapters for Node and Express, in this process. hosts.test.ts has what all hosts have in common.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { connect as connectHttp2, constants, createSecureServer, createServer } from 'node:http2'
import type { ClientHttp2Stream } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { Socket } from 'node:net'
import type { Server } from 'node:net'
import { buffer, text as textOf } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'

import express from 'express'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { toExpressHandler } from '../../adapters/express.ts'
import { serve, toNodeHandler } from '../../adapters/node.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesEvent, RawRequest, RawResponse, StreamedBody } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { OPENSSL_IS_MISSING, makeCertificate } from '../system/certificate.ts'
import { listen, temporaryFolder } from '../system/processes.ts'
import { listenOnFreePort, openSocket, portIn, sendRaw } from '../system/sockets.ts'

type Answer = (request: RawRequest) => RawResponse | Promise<RawResponse>
type Mount = (answer: Answer) => RequestListener

const failOnCall = (): never => {
  throw new Error('unexpected call')
}

/** A handler in both forms, of which only `answer` may be called. */
const handlerOf = (answer: Answer) => Object.assign(() => failOnCall(), { answer })

const direct = (answer: Answer) => toNodeHandler(handlerOf(answer))
const MOUNTS: [name: string, mount: Mount][] = [
  ['toNodeHandler()', direct],
  [
    'toNodeHandler() for a fetch-style handler',
    (answer) =>
      toNodeHandler(async ({ url }) => {
        const target = new URL(url).pathname
        const { body } = await answer(Object({ target }))
        return new Response(Object(body))
      }),
  ],
  ['toExpressHandler()', (answer) => express().use(toExpressHandler({ answer }))],
]
const RAW_MOUNTS = MOUNTS.filter(([name]) => !name.includes('fetch'))

const rawResponse = (body: RawResponse['body'], matched = true): RawResponse => {
  return { status: 200, headers: [], body, matched }
}

const head = (line: string, ...lines: string[]): string =>
  `${[`${line} HTTP/1.1`, 'Host: localhost', ...lines].join('\r\n')}\r\n\r\n`
const requestFor = (path: string): string => head(`GET ${path}`)
const pathsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `/${index}`)
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/<([^>]*)>/g)].map(([, path = '']) => path)
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Answers with the path after `before` resolves; `calls` lists the paths in order. */
function createEcho(before: (path: string) => Promise<unknown> = turn) {
  const calls: string[] = []
  const answer = async ({ target }: RawRequest): Promise<RawResponse> => {
    calls.push(target)
    await before(target)
    return rawResponse(`<${target}>`, target !== '/own')
  }
  return { calls, answer }
}

/** Sends all at once over one connection. */
function requestAll(port: number, paths: string[]): ReturnType<typeof sendRaw> {
  const isComplete = (text: string): boolean => text.slice(-500).includes(`<${paths.at(-1)}>`)
  return sendRaw(port, paths.map(requestFor).join(''), { isComplete })
}

/** Serves over HTTP/2 until the end of the test. */
async function openHttp2(answer: Answer) {
  const server = createServer(direct(answer))
  const session = connectHttp2(`http://127.0.0.1:${await listenOnFreePort(server)}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  return session
}

describe.each(MOUNTS)('pipelined requests of %s', (_, mount) => {
  it('start when the response before them on the same connection is sent', async () => {
    const events: string[] = []
    const { answer } = createEcho(async (path) => events.push(`start ${path}`))
    const { url, server } = await listen(mount(answer))
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      response.once('finish', () => events.push(`sent ${request.url}`))
    })
    const paths = pathsOf(50)
    expect(pathsIn((await requestAll(portIn(url), paths)).text)).toEqual(paths)
    const expected = paths.flatMap((path) => [`start ${path}`, `sent ${path}`])
    await expect.poll(() => events).toEqual(expected)
  })

  it('of a disconnected client do not reach the handler', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { answer, calls } = createEcho(() => promise)
    const { url, server } = await listen(mount(answer))
    const client = await openSocket(portIn(url))
    const connected = once(server, 'request')
    client.write(pathsOf(5).map(requestFor).join(''))
    const [{ socket }] = await connected
    await expect.poll(() => calls).toEqual(['/0'])
    client.resetAndDestroy()
    await new Promise((resolve) => socket.once('close', resolve))
    release()
    for (let turns = 0; turns < 20; turns += 1) await turn()
    expect(calls).toEqual(['/0'])
  })

  it('are not read while 100 wait, and later they are', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { answer } = createEcho((path) => (path === '/0' ? promise : Promise.resolve()))
    const { url, server } = await listen(mount(answer))
    let requests = 0
    server.on('request', ({ url: path }) => (requests += path === '/other' ? 0 : 1))
    const paths = pathsOf(1_000)
    const client = await openSocket(portIn(url))
    let received = ''
    client.on('data', (chunk) => (received += String(chunk)))
    for (let index = 0; index < paths.length; index += 50) {
      const some = paths.slice(index, index + 50)
      client.write(some.map(requestFor).join(''))
      await requestAll(portIn(url), ['/other'])
    }
    expect(requests).toBeLessThan(200)
    release()
    await expect.poll(() => pathsIn(received)).toEqual(paths)
    client.destroy()
  })

  it.each([
    ['Host: other.example', 400],
    ['X-A: 1\r\nhOST: localhost', 400],
    ['Date: 1\r\nFrom: 1', 200],
  ])('have one Host: with %j the status is %d', async (line, status) => {
    const { url } = await listen(mount(createEcho().answer))
    const isComplete = (text: string): boolean => text.includes('\r\n\r\n')
    const response = await sendRaw(portIn(url), head('GET /1', line), { isComplete })
    expect(response.status).toBe(status)
  })
})

describe('toNodeHandler()', () => {
  const handler = createRatesHandler({ providers: fakeProviders() })

  it.each([
    ['/nope', 'a/api/v1/convert?from=USD&to=EUR&x=', 404],
    ['/nope', 'user@a#', 404],
    ['http://other.example/nope', 'localhost', 404],
    ['/api/v1/latest?base=EUR', 'x/abc?', 200],
    ['/api/v1/latest?base=EUR', 'a?base=GBP&', 200],
    ['/api/v1/latest?base=EUR', '[::1', 200],
    ['/api/v1/latest?base=EUR', '', 200],
    ['http://other.example/api/v1/latest?base=EUR', 'localhost', 200],
    ['//other.example/api/v1/latest?base=EUR', 'localhost', 404],
  ])('routes by the target, not by the Host: %s, %s', async (target, host, status) => {
    const send = async (listener: RequestListener) => {
      const { url } = await listen(listener)
      return sendRaw(portIn(url), `GET ${target} HTTP/1.0\r\nHost: ${host}\r\n\r\n`)
    }
    const response = await send(toNodeHandler(handler))
    expect(response.status).toBe(status)
    expect(response.text).toContain(status === 200 ? '"base":"EUR"' : '"code":"not_found"')
    const { text } = await send(toNodeHandler(({ url }) => new Response(url)))
    const [, path] = /\r\nhttp:\/\/localhost(?::\d+)?(\/.*)$/.exec(text) ?? []
    expect(path).toBe(target.replace('http://other.example', ''))
  })

  it('responds to TRACE with 405 for a fetch-style handler, without calling it', async () => {
    const { url } = await listen(toNodeHandler(failOnCall))
    const request = head('TRACE /', 'X-Key: secret', 'Connection: close')
    const { text } = await sendRaw(portIn(url), request)
    expect(text).toMatch(/^HTTP\/1\.1 405 [^]*\r\ncache-control: no-store\r\n/)
    expect(text).not.toContain('secret')
  })

  it('closes only the connection over which it cannot send a response', async () => {
    const answer = ({ target }: RawRequest): RawResponse => {
      return { ...rawResponse('fine'), headers: target === '/bad' ? [['x-bad', 'a\nb']] : [] }
    }
    for (const each of [answer, async (request: RawRequest) => answer(request)]) {
      const { url } = await listen(direct(each))
      await expect(fetch(`${url}/bad`)).rejects.toThrow('fetch failed')
      expect(await (await fetch(url)).text()).toBe('fine')
    }
  })

  it('aborts the signal when a client disconnects, also one that is read afterwards', async () => {
    const requests: RawRequest[] = []
    const signals: (AbortSignal | undefined)[] = []
    const answer = (request: RawRequest): Promise<RawResponse> => {
      requests.push(request)
      signals.push(request.signal)
      return new Promise(() => {})
    }
    const { url } = await listen(direct(answer))
    const leaving = new AbortController()
    const left = fetch(url, { signal: leaving.signal })
    await expect.poll(() => signals.map((signal) => signal?.aborted)).toEqual([false])
    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    await expect.poll(() => signals[0]?.aborted).toBe(true)
    expect(requests[0]?.signal?.aborted).toBe(true)
  })

  it('responds through a mock response without a socket', async () => {
    const { promise, resolve: end } = Promise.withResolvers()
    const response = { socket: null, writeHead() {}, end, destroy() {}, once() {} }
    toNodeHandler(handlerOf(createEcho().answer))({ url: '/1', headers: {} }, response)
    expect(await promise).toBe('</1>')
  })

  it('closes only connections with many waiting requests above 10,000 in all', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { url } = await listen(direct(createEcho(() => promise).answer))
    const modest = requestAll(portIn(url), pathsOf(20))
    const greedy = await Promise.all(Array.from({ length: 20 }, () => openSocket(portIn(url))))
    const closed = greedy.map((socket) => once(socket.resume(), 'close'))
    for (const socket of greedy) socket.write(pathsOf(600).map(requestFor).join(''))
    await Promise.any(closed)
    release()
    expect(pathsIn((await modest).text)).toEqual(pathsOf(20))
    for (const socket of greedy) socket.destroy()
  })
})

it('toExpressHandler() passes a malformed request for another path to the app', async () => {
  const app = express().use(toExpressHandler({ answer: createEcho().answer }))
  const { url } = await listen(app.get('/own', (_request, response) => void response.send('own')))
  const request = head('GET /own', 'Host: localhost')
  expect(await sendRaw(portIn(url), request)).toMatchObject({ status: 200 })
})

describe('a request header', () => {
  const NAMES = ['if-none-match', 'accept', 'user-agent', 'x-other']

  /** Returns what the handler reads of `NAMES`, one by one and in the list of all headers. */
  async function send(mount: Mount, lines: string[]): Promise<unknown[]> {
    const read: unknown[][] = []
    const answer = (request: RawRequest): RawResponse => {
      const all = new Map(request.headers?.())
      read.push(
        NAMES.map((name) => all.get(name)),
        NAMES.map((name) => request.header(name)),
      )
      return rawResponse(null)
    }
    const { url } = await listen(mount(answer))
    await sendRaw(portIn(url), head('GET /', 'Connection: close', ...lines))
    expect(read[0]).toEqual(read[1])
    return read[0] ?? []
  }

  const repeated = ['If-None-Match: "b"', 'User-Agent: c', 'User-Agent: d', 'X-Other: e']

  it.each([
    [[], [undefined, undefined, undefined, undefined]],
    [
      ['IF-None-Match: "a"', 'accept: b'],
      ['"a"', 'b', undefined, undefined],
    ],
    [['If-None-Match:'], ['', undefined, undefined, undefined]],
    // A list is joined, and of others Node keeps the first one.
    [
      ['if-none-match: "a"', ...repeated, 'x-other: f'],
      ['"a", "b"', undefined, 'c', 'e, f'],
    ],
  ])('has the value that Node gives it: %j', async (lines, values) => {
    for (const [name, mount] of RAW_MOUNTS) {
      expect(await send(mount, lines), name).toEqual(values)
    }
  })

  it('is what middleware of Express has made of it', async () => {
    const mount: Mount = (answer) =>
      express()
        .use(({ headers }, _response, next) => {
          delete headers['if-none-match']
          headers['x-other'] = 'changed'
          next()
        })
        .use(toExpressHandler({ answer }))
    const read = await send(mount, ['If-None-Match: "a"', 'X-Other: b'])
    expect(read).toEqual([undefined, undefined, undefined, 'changed'])
  })

  it('has no pseudo-header of HTTP/2, which a Request would not accept', async () => {
    const session = await openHttp2((request) => {
      const all = new Headers(Array.from(request.headers?.() ?? [], ([...header]) => header))
      return rawResponse(JSON.stringify([...all]))
    })
    const stream = session.request({ ':path': '/', 'x-one': '1', cookie: ['a=1', 'b=2'] })
    expect(JSON.parse(await textOf(stream))).toEqual([
      ['cookie', 'a=1; b=2'],
      ['x-one', '1'],
    ])
  })
})

it('runs 8 requests of an HTTP/2 connection, queues 200 and refuses more', async () => {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const { answer, calls } = createEcho(() => promise)
  const session = await openHttp2(answer)
  const codesOf = async (streams: ClientHttp2Stream[]): Promise<Set<number | undefined>> => {
    const open = streams.filter(({ destroyed }) => !destroyed)
    await Promise.all(
      open.map((stream) => new Promise((resolve) => void stream.once('close', resolve))),
    )
    return new Set(streams.map(({ rstCode }) => rstCode))
  }
  const send = (path: string): ClientHttp2Stream =>
    session
      .request({ ':path': path })
      .on('error', () => {})
      .resume()
  const streams = pathsOf(250).map(send)
  expect(await codesOf(streams.slice(208))).toEqual(new Set([constants.NGHTTP2_REFUSED_STREAM]))
  await expect.poll(() => calls).toHaveLength(8)
  for (const stream of streams.slice(100, 208)) stream.close(constants.NGHTTP2_CANCEL)
  await codesOf(streams.slice(100, 208))
  release()
  expect(await codesOf(streams.slice(0, 100))).toEqual(new Set([constants.NGHTTP2_NO_ERROR]))
  expect(calls).toEqual(pathsOf(100))
  // Finished requests free their slots.
  expect(await codesOf([send('/1')])).toEqual(new Set([0]))
})

describe('the body of a request', () => {
  const PATH = '/api/v1/convert'
  const ROWS = JSON.stringify([{ from: 'USD', to: 'EUR', amount: 5 }, { from: 'USD' }])
  const CSV = 'from,to,amount\r\nUSD,EUR,5\r\nUSD,,1\r\n'
  const JSON_TYPE = 'application/json'
  const headers = { 'content-type': JSON_TYPE }

  const events: RatesEvent[] = []
  const handler = createRatesHandler({
    providers: fakeProviders(),
    onEvent: (event) => void events.push(event),
  })
  const mounted = toExpressHandler(handler)
  const parsers = [
    express.text({ type: 'text/csv', limit: '2mb' }),
    express.raw({ type: JSON_TYPE, limit: '2mb' }),
  ]

  describe.each<[name: string, listener: RequestListener]>([
    ['toNodeHandler()', toNodeHandler(handler)],
    ['toNodeHandler() for a fetch-style handler', toNodeHandler((request) => handler(request))],
    ['toExpressHandler()', express().use(mounted)],
    ['after express.json()', express().use(express.json({ limit: '2mb' }), mounted)],
    ['after express.text() and express.raw()', express().use(...parsers, mounted)],
  ])('%s', (name, listener) => {
    it('is read, and refused over 1 MiB, with its length or without it', async () => {
      const { url } = await listen(listener)
      for (const [body, type] of Object.entries({ [ROWS]: JSON_TYPE, [CSV]: 'text/csv' })) {
        const init = { method: 'POST', body, headers: { 'content-type': type } }
        const response = await fetch(url + PATH, init)
        const expected = await handler(new Request(`http://localhost${PATH}`, init))
        expect([response.status, await response.text()]).toEqual([200, await expected.text()])
      }
      const body = ' '.repeat(1_048_577) + ROWS
      const parts = [...Array(20).fill(' '.repeat(65_536)), ROWS].map((part) => Buffer.from(part))
      for (const each of [body, Object(ReadableStream).from(parts)]) {
        const init = { method: 'POST', body: each, headers, duplex: 'half' }
        const { status } = await fetch(url + PATH, init)
        // A parser before the handler may leave only the value of JSON, which is short.
        expect(status).toBe(name.includes('json') && each !== body ? 200 : 413)
      }
    })

    it('that is refused is followed by the next request, and one is continued that expects it', async () => {
      const { url } = await listen(listener)
      const refused = head(`POST ${PATH}`, 'Content-Type: text/plain', 'Content-Length: 5')
      const next = head(`GET ${PATH}?from=USD&to=EUR`, 'Connection: close')
      const statuses = async (text: string): Promise<unknown> =>
        (await sendRaw(portIn(url), text)).text.match(/(?<=HTTP\/1\.1 )\d+/g)
      expect(await statuses(`${refused}hello${next}`)).toEqual(['415', '200'])
      const length = `Content-Length: ${ROWS.length}`
      const lines = [`Content-Type: ${JSON_TYPE}`, length, 'Expect: 100-continue']
      const continued = head(`POST ${PATH}`, ...lines, 'Connection: close') + ROWS
      expect(await statuses(continued)).toEqual(['100', '200'])
    })

    it('may end early, when its client disconnects', async () => {
      const { url, server } = await listen(listener)
      const client = await openSocket(portIn(url))
      const requested = once(server, 'request')
      const lines = [`Content-Type: ${JSON_TYPE}`, 'Content-Length: 100']
      client.write(`${head(`POST ${PATH}`, ...lines)}[`)
      const [{ socket }] = await requested
      const closed = new Promise((resolve) => void socket.once('close', resolve))
      client.destroy()
      await closed
      const response = await fetch(url + PATH, { method: 'POST', body: ROWS, headers })
      expect(response.status).toBe(200)
      expect(events.filter(({ type }) => type === 'internal_error')).toEqual([])
    })
  })

  it('is read over HTTP/2, and refused over 1 MiB', async () => {
    const session = await openHttp2(handler.answer)
    const post = async (body: string) => {
      const stream = session.request({ ':path': PATH, ':method': 'POST', ...headers })
      const responded = once(stream, 'response')
      stream.end(body)
      const [received] = await responded
      return [received[':status'], await textOf(stream)]
    }
    const init = { method: 'POST', body: ROWS, headers }
    const expected = await handler(new Request(`http://localhost${PATH}`, init))
    expect(await post(ROWS)).toEqual([200, await expected.text()])
    expect((await post(' '.repeat(1_048_577)))[0]).toBe(413)
    expect((await post(ROWS))[0]).toBe(200)
  })
})

describe('a body in parts', () => {
  /** Serves an endless body; `parts` counts what was read of it. */
  async function serveEndless() {
    const state = { parts: 0, isOpen: true }
    async function* endless(): StreamedBody {
      try {
        for (;;) {
          state.parts += 1
          yield new Uint8Array(65_536)
        }
      } finally {
        state.isOpen = false
      }
    }
    const { url } = await listen(direct(() => rawResponse(endless())))
    const client = await openSocket(portIn(url))
    onTestFinished(() => void client.destroy())
    client.write(requestFor('/'))
    return { state, client }
  }

  it('is read as fast as the client reads it', async () => {
    const { state, client } = await serveEndless()
    client.pause()
    let before = 0
    // The operating system accepts some MB.
    await expect
      .poll(() => [before, (before = state.parts)], { interval: 100 })
      .toSatisfy(([earlier, now]) => earlier === now && now > 1)
    expect(state.parts).toBeLessThan(1_000)
    client.resume()
    await expect.poll(() => state.parts).toBeGreaterThan(2 * before)
    expect(state.isOpen).toBe(true)
  })

  it('ends when the client disconnects, also while it does not read', async () => {
    const { state, client } = await serveEndless()
    await once(client, 'readable')
    client.destroy()
    await expect.poll(() => state.isOpen).toBe(false)
  })

  it('ends the connection where it fails', async () => {
    async function* failing(): StreamedBody {
      yield Buffer.from('first')
      throw new Error('gone')
    }
    const answer = (): RawResponse => rawResponse(failing())
    const { url } = await listen(direct(answer))
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow(TypeError)
    const stream = (await openHttp2(answer)).request({ ':path': '/' })
    await expect(textOf(stream)).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
  })
})

describe('a large body', () => {
  /** More than the operating system buffers for a connection. */
  const BODY_BYTES = 32_000_000
  const BODIES: Record<string, Uint8Array<ArrayBuffer>> = {
    '/one': new Uint8Array(BODY_BYTES).map((_, index) => index % 251),
    '/two': new Uint8Array(BODY_BYTES),
  }

  /** Answers with large bodies; `unsentBytes` is that of the last request. */
  function createAnswer() {
    const state = { unsentBytes: (): number | undefined => undefined, requests: 0 }
    const answer = ({ target, unsentBytes }: RawRequest): RawResponse => {
      state.unsentBytes = () => unsentBytes?.()
      state.requests += 1
      const body = BODIES[target] ?? null
      return { ...rawResponse(body), headers: [['content-length', `${body?.length ?? 0}`]] }
    }
    return { state, answer }
  }

  it.each(RAW_MOUNTS)(
    'of %s counts while its clients do not read, once where they share it',
    async (_, mount) => {
      const { state, answer } = createAnswer()
      const { url } = await listen(mount(answer))
      const opened = ['/one', '/one', '/two', '/nothing'].map(async (path) => {
        const socket = await openSocket(portIn(url))
        socket.pause().write(requestFor(path))
        return socket
      })
      const [first, second, third] = await Promise.all(opened)
      await expect.poll(() => [state.requests, state.unsentBytes()]).toEqual([4, 2 * BODY_BYTES])
      first?.destroy()
      third?.destroy()
      await expect.poll(() => state.unsentBytes()).toBe(BODY_BYTES)
      second?.resume()
      await expect.poll(() => state.unsentBytes()).toBe(0)
    },
  )

  describe.skipIf(OPENSSL_IS_MISSING)('over TLS', () => {
    async function open(
      create: (options: { key: Buffer; cert: Buffer }) => Server,
    ): Promise<number> {
      const files = makeCertificate(temporaryFolder(), 'localhost', ['DNS:localhost'])
      const server = create({ key: readFileSync(files.key), cert: readFileSync(files.cert) })
      onTestFinished(() => void server.close())
      return listenOnFreePort(server)
    }

    it('is encrypted as its client reads', async () => {
      const { state, answer } = createAnswer()
      const responses: ServerResponse[] = []
      const listener = direct(answer)
      const port = await open((options) =>
        createHttpsServer(options, (request, response) => {
          responses.push(response)
          listener(request, response)
        }),
      )
      const openTls = async (): Promise<Socket> => {
        const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
        onTestFinished(() => void socket.on('error', () => {}).destroy())
        await once(socket, 'secureConnect')
        return socket
      }
      const slow = await openTls()
      slow.pause().write(requestFor('/one'))
      await expect.poll(() => state.unsentBytes()).toBe(BODY_BYTES)
      expect(responses[0]?.writableLength).toBeLessThan(300_000)
      const other = await openTls()
      other.write(head('GET /one', 'Connection: close'))
      const whole = await buffer(other)
      const body = whole.subarray(whole.indexOf('\r\n\r\n') + 4)
      expect(body.equals(BODIES['/one'] ?? Buffer.of())).toBe(true)
      slow.resume()
      await expect.poll(() => state.unsentBytes()).toBe(0)
    })

    it('is sent whole over HTTP/2', async () => {
      const { state, answer } = createAnswer()
      const listener = direct(answer)
      const port = await open((options) => createSecureServer(options, listener))
      const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
      onTestFinished(() => session.destroy())
      const body = await buffer(session.request({ ':path': '/one' }))
      expect(body.equals(BODIES['/one'] ?? Buffer.of())).toBe(true)
      await expect.poll(() => state.unsentBytes()).toBe(0)
    })
  })

  it('is cut within a minute if its client does not read, unlike for one that reads slowly', async () => {
    // A twentieth of the real limit.
    const { setTimeout: setIdleTimeout } = Socket.prototype
    const limits: number[] = []
    const scaled = vi.spyOn(Socket.prototype, 'setTimeout')
    scaled.mockImplementation(function (this: Socket, ms, ...rest) {
      if (ms > 10_000) limits.push(ms)
      return setIdleTimeout.call(this, ms / 20, ...rest)
    })
    onTestFinished(() => scaled.mockRestore())
    const body = new Uint8Array(40_000_000)
    const raw = direct(() => rawResponse(body))
    async function waitForClose(
      listener: RequestListener,
      end: 'server' | 'client',
      read: (client: Socket) => void,
    ): Promise<void> {
      const { url, server } = await listen(listener)
      const connected = once(server, 'connection')
      const client = await openSocket(portIn(url))
      onTestFinished(() => void client.destroy())
      client.write(head('GET /', 'Connection: close'))
      read(client)
      const [socket] = await connected
      await new Promise((resolve) => ({ server: socket, client })[end].once('close', resolve))
    }
    let bytesRead = 0
    const readSlowly = (client: Socket): void => {
      client.on('data', ({ length }) => {
        bytesRead += length
        client.pause()
        setTimeout(() => client.resume(), 5)
      })
    }
    const fetchStyle = toNodeHandler(() => new Response(body))
    await Promise.all([
      waitForClose(raw, 'client', readSlowly),
      ...[raw, fetchStyle].map((listener) =>
        waitForClose(listener, 'server', (client) => client.pause()),
      ),
    ])
    expect(bytesRead).toBeGreaterThan(body.length)
    expect(Math.max(...limits)).toBeLessThan(60_000)
  })
})

describe('serve()', () => {
  const handler = createRatesHandler({ providers: fakeProviders() })

  it('closes connections above maxConnections immediately', async () => {
    const { answer } = createEcho()
    const server = await serve(handlerOf(answer), { port: 0, maxConnections: 2 })
    onTestFinished(() => server.stop())
    const open = (): Promise<Socket> => openSocket(portIn(server.url))
    const [first] = await Promise.all([open(), open()])
    const third = (await open()).resume()
    await once(third, 'close')
    expect(third.bytesRead).toBe(0)
    first?.destroy()
    await expect.poll(() => fetch(server.url).catch(() => undefined)).toBeDefined()
  })

  it('closes a connection whose client does not finish its headers in 10 s, or its body in 30 s', async () => {
    const http = process.getBuiltinModule('node:http')
    const { createServer: create } = http
    // A fiftieth of the real limits.
    const created = vi.spyOn(http, 'createServer')
    created.mockImplementation((options, listener) => {
      const scaled = Object.entries(options).map(([name, ms]) => [name, Number(ms) / 50])
      return create(Object.fromEntries(scaled), listener)
    })
    onTestFinished(() => created.mockRestore())
    const server = await serve(() => new Promise(() => {}), { port: 0 })
    const limits = { headersTimeout: 10_000, requestTimeout: 30_000, handshakeTimeout: 10_000 }
    expect(created.mock.calls[0]?.[0]).toMatchObject(limits)
    const beginnings = ['GET / HTTP/1.1\r\nHost: lo', `${head('POST /', 'Content-Length: 9')}x`]
    const responses = beginnings.map((text) => sendRaw(portIn(server.url), text))
    for (const response of responses) expect(await response).toMatchObject({ status: 408 })
    await server.stop()
  })

  it('stops despite clients without a complete request, or with requests on a lost connection', async () => {
    const echo = createEcho(() => new Promise(() => {}))
    const waiting = await serve(handlerOf(echo.answer), { port: 0 })
    const client = await openSocket(portIn(waiting.url))
    client.write(pathsOf(5).map(requestFor).join(''))
    await expect.poll(() => echo.calls).toEqual(['/0'])
    client.resetAndDestroy()
    const server = await serve(handler, { port: 0 })
    for (const text of ['', 'GET / HTTP/1.1\r\nHost: lo', requestFor('/')]) {
      const socket = await openSocket(portIn(server.url))
      socket.write(text)
    }
    // A constant clock disables the time limit of stop().
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    onTestFinished(() => void vi.restoreAllMocks())
    await expect(server.stop()).resolves.toBeUndefined()
    await expect(waiting.stop()).resolves.toBeUndefined()
  })

  it('responds to every request before it stops', async () => {
    const server = await serve(handler, { port: 0 })
    const agent = new Agent({ keepAlive: true })
    let responses = 0
    // Each sends requests over a keep-alive connection until the server closes it.
    const clients = Array.from({ length: 20 }, async () => {
      for (let closes = false; !closes; responses += 1) {
        closes = await new Promise<boolean>((resolve, reject) => {
          get(`${server.url}/api/v1/latest`, { agent }, (response) => {
            response.resume().on('end', () => resolve(response.headers.connection === 'close'))
          }).on('error', reject)
        })
      }
    })
    await expect.poll(() => responses).toBeGreaterThan(200)
    await Promise.all([server.stop(), ...clients])
    agent.destroy()
  })
})
