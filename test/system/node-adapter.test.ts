import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { RequestListener } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import { Socket } from 'node:net'
import { text } from 'node:stream/consumers'

import express from 'express'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { toExpressHandler } from '../../adapters/express.ts'
import { serve, toNodeHandler } from '../../adapters/node.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RawRequest, RawResponse, StreamedBody } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { listen } from './processes.ts'
import { listenOnFreePort, openSocket, portIn, sendRaw } from './sockets.ts'

// test/conformance covers the common behaviour of all hosts; other files here cover failing handlers and ports in use.
describe('toNodeHandler()', () => {
  const LATEST = 'GET /api/v1/latest?base=EUR'
  const HOSTS = ['x/abc?', 'a\\b', 'a?base=GBP&', '<script>', '[::1', '[::1]:80', '']

  it.each<[line: string, host: string, status: number]>([
    ['GET /nope', 'a/api/v1/convert?from=USD&to=EUR&x=', 404],
    ['GET /nope', 'a/api/v1/latest#', 404],
    ...HOSTS.map((host): [string, string, number] => [LATEST, host, 200]),
    ['GET http://other.example/api/v1/latest?base=EUR', 'localhost', 200],
    ['GET //other.example/api/v1/latest?base=EUR', 'localhost', 404],
  ])('ignores the Host header when it routes %s, Host %s', async (line, host, status) => {
    const handler = createRatesHandler({ providers: fakeProviders() })
    const { url } = await listen(toNodeHandler(handler))
    const request = `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const response = await rawResponse(url, request)
    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(response).toContain(status === 200 ? '"base":"EUR"' : '"code":"not_found"')
  })

  it.each([
    ['/nope', 'a/api/v1/x?q='],
    ['/nope', 'a#'],
    ['/nope', 'user@a'],
    ['/nope', '[::1'],
    ['/nope', ''],
    ['http://other.example/nope', 'localhost'],
  ])(
    'ignores the Host header in the URL of a fetch-style handler: %s, Host %s',
    async (target, host) => {
      const { url } = await listen(toNodeHandler((request) => new Response(request.url)))
      const response = await rawResponse(url, `GET ${target} HTTP/1.0\r\nHost: ${host}\r\n\r\n`)
      expect(response).toMatch(/\r\nhttp:\/\/localhost(:\d+)?\/nope$/)
    },
  )

  it('responds to TRACE with 405 for a fetch-style handler, without calling it', async () => {
    let calls = 0
    const handler = (): Response => new Response(String((calls += 1)))
    const { url } = await listen(toNodeHandler(handler))
    const request =
      'TRACE / HTTP/1.1\r\nHost: localhost\r\nX-Key: secret\r\nConnection: close\r\n\r\n'
    const response = await rawResponse(url, request, 60_000)
    expect(response).toMatch(/^HTTP\/1\.1 405 [^]*\r\ncache-control: no-store\r\n/)
    expect(response).not.toContain('secret')
    expect(calls).toBe(0)
  })

  it('sends Content-Length to HTTP/1.0 clients, so that they detect truncated bodies', async () => {
    const { url } = await listen(toNodeHandler(createRatesHandler({ providers: fakeProviders() })))
    const response = await rawResponse(url, 'GET /api/v1/latest HTTP/1.0\r\n\r\n')
    const [head = '', body = ''] = response.split('\r\n\r\n')
    expect(head.toLowerCase()).toContain(`content-length: ${Buffer.byteLength(body)}`)
  })

  it('closes only the connection over which it cannot send a response', async () => {
    const answer = async ({ target }: { target: string }): Promise<RawResponse> => {
      const headers: RawResponse['headers'] = target === '/bad' ? [['x-bad', 'a\nb']] : []
      return { status: 200, headers, body: 'fine', matched: true }
    }
    const { url } = await listen(toNodeHandler(Object.assign(failOnCall, { answer })))
    await expect(fetch(`${url}/bad`)).rejects.toThrow('fetch failed')
    expect(await (await fetch(url)).text()).toBe('fine')
  })

  it('aborts the signal when a client disconnects, also one that is read afterwards', async () => {
    const requests: RawRequest[] = []
    const signals: (AbortSignal | undefined)[] = []
    const answer = (request: RawRequest): Promise<RawResponse> => {
      requests.push(request)
      signals.push(request.signal)
      return new Promise(() => {})
    }
    const { url } = await listen(toNodeHandler(Object.assign(failOnCall, { answer })))
    const leaving = new AbortController()
    const left = fetch(url, { signal: leaving.signal })
    await expect.poll(() => signals.length).toBe(1)
    expect(signals[0]?.aborted).toBe(false)
    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    await expect.poll(() => signals[0]?.aborted).toBe(true)
    expect(requests[0]?.signal?.aborted).toBe(true)
  })
})

describe('a request header', () => {
  type Answer = (request: RawRequest) => RawResponse

  const NAMES = ['if-none-match', 'accept', 'user-agent', 'x-other']

  /** Sends a request with `lines`; returns what the handler reads of `NAMES`, one by one and in the list of all headers. */
  async function send(
    mount: (answer: Answer) => RequestListener,
    lines: string[],
  ): Promise<unknown[]> {
    let read: unknown[] = []
    let listed: unknown[] = []
    const answer = (request: RawRequest): RawResponse => {
      const all = new Map(request.headers?.())
      listed = NAMES.map((name) => all.get(name))
      read = NAMES.map((name) => request.header(name))
      return { status: 204, headers: [], body: null, matched: true }
    }
    const { url } = await listen(mount(answer))
    const head = ['GET / HTTP/1.1', 'Host: localhost', 'Connection: close', ...lines]
    await rawResponse(url, `${head.join('\r\n')}\r\n\r\n`)
    expect(listed).toEqual(read)
    return read
  }

  const onNode = (answer: Answer) => toNodeHandler(Object.assign(failOnCall, { answer }))
  const onExpress = (answer: Answer) => express().use(toExpressHandler({ answer }))

  it.each([
    [[], [undefined, undefined, undefined, undefined]],
    [
      ['IF-None-Match: "a"', 'accept: b'],
      ['"a"', 'b', undefined, undefined],
    ],
    [['If-None-Match:'], ['', undefined, undefined, undefined]],
    // Repeated: a list is joined, and of others Node keeps the first one.
    [
      [
        'If-None-Match: "a"',
        'if-none-match: "b"',
        'User-Agent: c',
        'User-Agent: d',
        'X-Other: e',
        'x-other: f',
      ],
      ['"a", "b"', undefined, 'c', 'e, f'],
    ],
  ])('has the value that Node gives it: %j', async (lines, values) => {
    expect(await send(onNode, lines)).toEqual(values)
    expect(await send(onExpress, lines)).toEqual(values)
  })

  it('is what middleware of Express has made of it', async () => {
    const withMiddleware = (answer: Answer) =>
      express()
        .use(({ headers }, _response, next) => {
          delete headers['if-none-match']
          headers['x-other'] = 'changed'
          next()
        })
        .use(toExpressHandler({ answer }))
    const read = await send(withMiddleware, ['If-None-Match: "a"', 'X-Other: b'])
    expect(read).toEqual([undefined, undefined, undefined, 'changed'])
  })
})

it('a request over HTTP/2 has no pseudo-headers, which no Request accepts', async () => {
  const answer = (request: RawRequest): RawResponse => {
    const headers = new Headers(Array.from(request.headers?.() ?? [], ([...header]) => header))
    return { status: 200, headers: [], body: JSON.stringify([...headers]), matched: true }
  }
  const server = createHttp2Server(toNodeHandler(Object.assign(failOnCall, { answer })))
  const session = connect(`http://127.0.0.1:${await listenOnFreePort(server)}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const body = await text(session.request({ ':path': '/', 'x-one': '1', cookie: ['a=1', 'b=2'] }))
  expect(JSON.parse(body)).toEqual([
    ['cookie', 'a=1; b=2'],
    ['x-one', '1'],
  ])
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
    const answer = (): RawResponse => {
      return { status: 200, headers: [], body: endless(), matched: true }
    }
    const { url } = await listen(toNodeHandler(Object.assign(failOnCall, { answer })))
    const client = await openSocket(portIn(url))
    onTestFinished(() => void client.destroy())
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
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
})

describe('a client that does not read', () => {
  it('is disconnected within a minute, unlike one that reads slowly', async () => {
    // A third of the real limit.
    const { setTimeout: setIdleTimeout } = Socket.prototype
    const scaled = vi.spyOn(Socket.prototype, 'setTimeout')
    scaled.mockImplementation(function (this: Socket, ms, ...rest) {
      return setIdleTimeout.call(this, ms / 3, ...rest)
    })
    onTestFinished(() => scaled.mockRestore())
    const body = new Uint8Array(40_000_000)
    const answer = async (): Promise<RawResponse> => ({
      status: 200,
      headers: [],
      body,
      matched: true,
    })
    const direct = toNodeHandler(Object.assign(failOnCall, { answer }))
    async function waitForClose(
      listener: RequestListener,
      end: 'server' | 'client',
      read: (client: Socket) => void,
    ): Promise<void> {
      const { url, server } = await listen(listener)
      const connected = once(server, 'connection')
      const client = await openSocket(portIn(url))
      onTestFinished(() => void client.destroy())
      client.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
      read(client)
      const [socket] = await connected
      await new Promise((resolve) => ({ server: socket, client })[end].once('close', resolve))
    }
    let bytesRead = 0
    const readSlowly = (client: Socket): void => {
      client.on('data', ({ length }) => {
        bytesRead += length
        client.pause()
        setTimeout(() => client.resume(), 40)
      })
    }
    const fetchStyle = toNodeHandler(() => new Response(body))
    await Promise.all([
      waitForClose(direct, 'client', readSlowly),
      ...[direct, fetchStyle].map((listener) =>
        waitForClose(listener, 'server', (client) => client.pause()),
      ),
    ])
    expect(bytesRead).toBeGreaterThan(body.length)
  })
})

describe.concurrent('serve()', () => {
  const handler = createRatesHandler({ providers: fakeProviders() })

  it.each([
    ['its headers', 'GET / HTTP/1.1\r\nHost: lo'],
    ['its body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx'],
  ])('closes a connection whose client does not finish %s', async (_, text) => {
    const server = await serve(() => new Promise(() => {}), { port: 0 })
    expect(await rawResponse(server.url, text, 60_000)).toMatch(/^HTTP\/1\.1 408 /)
    await server.stop()
  })

  it('stops despite clients without a complete request', async () => {
    const server = await serve(handler, { port: 0 })
    const clients = ['', 'GET / HTTP/1.1\r\nHost: lo', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n']
    for (const text of clients) {
      const socket = await openSocket(portIn(server.url))
      socket.write(text)
    }
    // A constant clock disables the time limit of stop().
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    onTestFinished(() => void vi.restoreAllMocks())
    await expect(server.stop()).resolves.toBeUndefined()
  })

  it('responds to every request before it stops', async () => {
    const server = await serve(handler, { port: 0 })
    const agent = new Agent({ keepAlive: true })
    let responses = 0
    // Each sends requests over a keep-alive connection until the server closes it.
    const clients = Array.from({ length: 20 }, async () => {
      for (;;) {
        const closes = await new Promise<boolean>((resolve, reject) => {
          get(`${server.url}/api/v1/latest`, { agent }, (response) => {
            response.resume().on('end', () => resolve(response.headers.connection === 'close'))
          }).on('error', reject)
        })
        responses += 1
        if (closes) return
      }
    })
    await expect.poll(() => responses).toBeGreaterThan(200)
    await Promise.all([server.stop(), ...clients])
    agent.destroy()
  })
})

function failOnCall(): never {
  throw new Error('unexpected call')
}

/** Sends `text` as it is, and returns the response within `timeout` ms. */
async function rawResponse(url: string, text: string, timeout = 5_000): Promise<string> {
  return (await sendRaw(portIn(url), text, { timeout })).text
}
