import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { connect, constants, createServer as createHttp2Server } from 'node:http2'
import type { ClientHttp2Stream } from 'node:http2'

import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'

import { toExpressHandler } from '../../adapters/express.ts'
import { serve, toNodeHandler } from '../../adapters/node.ts'
import type { RawRequest, RawResponse } from '../../src/index.ts'
import { listen } from '../system/processes.ts'
import { listenOnFreePort, openSocket, portIn, sendRaw } from '../system/sockets.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Creates a handler in both forms, which echoes the path after `before` resolves; `calls` lists the paths in order. */
function createEcho(before: (path: string) => Promise<unknown> = turn) {
  const calls: string[] = []
  const echo = async (path: string): Promise<string> => {
    calls.push(path)
    await before(path)
    return `<${path}>`
  }
  const respond = async ({ url }: Request): Promise<Response> => {
    return new Response(await echo(new URL(url).pathname))
  }
  const answer = async ({ target }: RawRequest): Promise<RawResponse> => {
    return { status: 200, headers: [], body: await echo(target), matched: target !== '/own' }
  }
  return { calls, respond, handler: Object.assign(respond, { answer }) }
}

type Echo = ReturnType<typeof createEcho>

const MOUNTS: [name: string, mount: (echo: Echo) => RequestListener][] = [
  ['toNodeHandler()', ({ handler }) => toNodeHandler(handler)],
  [
    'toNodeHandler() for a fetch-style handler',
    ({ respond }) => toNodeHandler((request) => respond(request)),
  ],
  ['toExpressHandler()', ({ handler }) => express().use(toExpressHandler(handler))],
]

const requestFor = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const pathsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `/${index}`)
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/<([^>]*)>/g)].map(([, path = '']) => path)

function requestAll(port: number, paths: string[]): ReturnType<typeof sendRaw> {
  const isComplete = (received: string): boolean =>
    received.slice(-500).includes(`<${paths.at(-1)}>`)
  return sendRaw(port, paths.map(requestFor).join(''), { isComplete })
}

describe.each(MOUNTS)('%s', (_, mount) => {
  it('starts a request when the response before it on the same connection is sent', async () => {
    const events: string[] = []
    const echo = createEcho(async (path) => events.push(`start ${path}`))
    const { url, server } = await listen(mount(echo))
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      response.once('finish', () => events.push(`sent ${request.url}`))
    })
    const paths = pathsOf(50)
    const { text } = await requestAll(portIn(url), paths)
    expect(pathsIn(text)).toEqual(paths)
    await expect
      .poll(() => events)
      .toEqual(paths.flatMap((path) => [`start ${path}`, `sent ${path}`]))
  })

  it('does not call the handler for further requests of a disconnected client', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const echo = createEcho(() => promise)
    const { url, server } = await listen(mount(echo))
    const client = await openSocket(portIn(url))
    const connected = once(server, 'request')
    client.write(pathsOf(5).map(requestFor).join(''))
    const [{ socket }] = await connected
    await expect.poll(() => echo.calls).toEqual(['/0'])
    client.resetAndDestroy()
    await new Promise((resolve) => socket.once('close', resolve))
    release()
    for (let turns = 0; turns < 20; turns += 1) await turn()
    expect(echo.calls).toEqual(['/0'])
  })

  it('stops reading while 100 requests wait, and reads the rest later', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const echo = createEcho((path) => (path === '/0' ? promise : Promise.resolve()))
    const { url, server } = await listen(mount(echo))
    let requests = 0
    server.on('request', ({ url: path }: IncomingMessage) => {
      if (path !== '/other') requests += 1
    })
    const paths = pathsOf(1_000)
    const client = await openSocket(portIn(url))
    let received = ''
    client.on('data', (chunk) => (received += String(chunk)))
    for (let index = 0; index < paths.length; index += 50) {
      client.write(
        paths
          .slice(index, index + 50)
          .map(requestFor)
          .join(''),
      )
      await requestAll(portIn(url), ['/other'])
    }
    expect(requests).toBeLessThan(200)
    release()
    await expect.poll(() => pathsIn(received)).toEqual(paths)
    client.destroy()
  })

  it.each([
    ['GET /1 HTTP/1.1\r\nHost: localhost\r\nHost: other.example\r\n\r\n', 400],
    ['GET /1 HTTP/1.1\r\nHost: localhost\r\nX-A: 1\r\nhOST: localhost\r\n\r\n', 400],
    ['GET /1 HTTP/1.1\r\nHost: localhost\r\nDate: 1\r\nFrom: 1\r\n\r\n', 200],
  ])('responds to %j with %d', async (text, status) => {
    const { url } = await listen(mount(createEcho()))
    const response = await sendRaw(portIn(url), text, {
      isComplete: (received) => received.includes('\r\n\r\n'),
    })
    expect(response.status).toBe(status)
  })
})

it('passes a malformed request for another path to the app', async () => {
  const app = express().use(toExpressHandler(createEcho().handler))
  const { url } = await listen(app.get('/own', (_request, response) => void response.send('own')))
  const text = 'GET /own HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n'
  expect(await sendRaw(portIn(url), text)).toMatchObject({ status: 200 })
})

it('closes only connections with many waiting requests above 10,000 in all', async () => {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const { url } = await listen(toNodeHandler(createEcho(() => promise).handler))
  const port = portIn(url)
  const modest = requestAll(port, pathsOf(20))
  const greedy = await Promise.all(Array.from({ length: 20 }, () => openSocket(port)))
  const closed = greedy.map((socket) => once(socket.resume(), 'close'))
  for (const socket of greedy) socket.write(pathsOf(600).map(requestFor).join(''))
  await Promise.any(closed)
  release()
  expect(pathsIn((await modest).text)).toEqual(pathsOf(20))
  for (const socket of greedy) socket.destroy()
})

it('responds through a mock response without a socket', async () => {
  const { handler } = createEcho()
  const ended = new Promise((resolve) => {
    const response = { socket: null, writeHead() {}, end: resolve, destroy() {}, once() {} }
    toNodeHandler(handler)({ url: '/1', headers: {} }, response)
  })
  expect(await ended).toBe('</1>')
})

it('runs 8 requests of an HTTP/2 connection, queues 200 and refuses more', async () => {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const echo = createEcho(() => promise)
  const server = createHttp2Server(toNodeHandler(echo.handler))
  const session = connect(`http://127.0.0.1:${await listenOnFreePort(server)}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const codesOf = async (streams: ClientHttp2Stream[]): Promise<Set<number | undefined>> => {
    const closing = streams.map(
      (stream) => new Promise((resolve) => void stream.once('close', resolve)),
    )
    await Promise.all(closing.filter((_, index) => !streams[index]?.destroyed))
    return new Set(streams.map(({ rstCode }) => rstCode))
  }
  const streams = pathsOf(250).map((path) =>
    session
      .request({ ':path': path })
      .on('error', () => {})
      .resume(),
  )
  expect(await codesOf(streams.slice(208))).toEqual(new Set([constants.NGHTTP2_REFUSED_STREAM]))
  await expect.poll(() => echo.calls).toHaveLength(8)
  for (const stream of streams.slice(100, 208)) stream.close(constants.NGHTTP2_CANCEL)
  await codesOf(streams.slice(100, 208))
  release()
  expect(await codesOf(streams.slice(0, 100))).toEqual(new Set([constants.NGHTTP2_NO_ERROR]))
  expect(echo.calls).toEqual(pathsOf(100))
  // Finished requests free their slots.
  expect(await codesOf([session.request({ ':path': '/1' }).resume()])).toEqual(new Set([0]))
})

describe('serve()', () => {
  it('closes connections above maxConnections immediately', async () => {
    const server = await serve(createEcho().handler, { port: 0, maxConnections: 2 })
    onTestFinished(() => server.stop())
    const [first] = await Promise.all([
      openSocket(portIn(server.url)),
      openSocket(portIn(server.url)),
    ])
    const third = (await openSocket(portIn(server.url))).resume()
    await once(third, 'close')
    expect(third.bytesRead).toBe(0)
    first?.destroy()
    const again = (): Promise<string> =>
      fetch(server.url).then(
        () => 'accepted',
        () => 'refused',
      )
    await expect.poll(again).toBe('accepted')
  })

  it('stops within 9 s after a connection with waiting requests was lost', async () => {
    const echo = createEcho(() => new Promise(() => {}))
    const server = await serve(echo.handler, { port: 0 })
    const client = await openSocket(portIn(server.url))
    client.write(pathsOf(5).map(requestFor).join(''))
    await expect.poll(() => echo.calls).toEqual(['/0'])
    client.resetAndDestroy()
    const startedAt = performance.now()
    await server.stop()
    expect(performance.now() - startedAt).toBeLessThan(9_000)
  })
})
