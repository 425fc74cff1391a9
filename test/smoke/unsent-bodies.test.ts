import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect as connectHttp2, createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { Server, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'

import { toExpressHandler } from '../../adapters/express.ts'
import { toNodeHandler } from '../../adapters/node.ts'
import type { RawRequest, RawResponse } from '../../src/index.ts'
import { OPENSSL_IS_MISSING, makeCertificate } from '../system/certificate.ts'
import { listen, temporaryFolder } from '../system/processes.ts'
import { listenOnFreePort, openSocket, portIn } from '../system/sockets.ts'

/** More than the operating system buffers for a connection. */
const BODY_BYTES = 32_000_000

const BODIES: Record<string, Uint8Array<ArrayBuffer>> = {
  '/one': new Uint8Array(BODY_BYTES).map((_, index) => index % 251),
  '/two': new Uint8Array(BODY_BYTES),
}

/** Creates a handler of large bodies; `unsentBytes` is that of the last request. */
function createHandler() {
  const state = { unsentBytes: (): number | undefined => undefined, requests: 0 }
  const answer = ({ target, unsentBytes }: RawRequest): RawResponse => {
    state.unsentBytes = () => unsentBytes?.()
    state.requests += 1
    const body = BODIES[target] ?? null
    const headers: RawResponse['headers'] = [['content-length', String(body?.length ?? 0)]]
    return { status: 200, headers, body, matched: true }
  }
  const respond = async (): Promise<Response> => new Response()
  return { state, handler: Object.assign(respond, { answer }) }
}

type Handler = ReturnType<typeof createHandler>['handler']

const MOUNTS: [name: string, mount: (handler: Handler) => RequestListener][] = [
  ['toNodeHandler()', toNodeHandler],
  ['toExpressHandler()', (handler) => express().use(toExpressHandler(handler))],
]

const requestFor = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

/** Returns the body of the response to `path`. */
async function bodyAt(socket: Socket, path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(`${requestFor(path).trimEnd()}\r\nConnection: close\r\n\r\n`)
  await once(socket, 'end')
  const whole = Buffer.concat(chunks)
  return whole.subarray(whole.indexOf('\r\n\r\n') + 4)
}

describe.each(MOUNTS)('%s', (_, mount) => {
  it('counts the bytes that clients do not read, once where they share them', async () => {
    const { state, handler } = createHandler()
    const { url } = await listen(mount(handler))
    const clients = await Promise.all(
      ['/one', '/one', '/two', '/nothing'].map(async (path) => {
        const socket = await openSocket(portIn(url))
        socket.pause().write(requestFor(path))
        return socket
      }),
    )
    const [first, second, third] = clients
    await expect.poll(() => [state.requests, state.unsentBytes()]).toEqual([4, 2 * BODY_BYTES])
    first?.destroy()
    third?.destroy()
    await expect.poll(() => state.unsentBytes()).toBe(BODY_BYTES)
    second?.resume()
    await expect.poll(() => state.unsentBytes()).toBe(0)
  })
})

describe.skipIf(OPENSSL_IS_MISSING)('over TLS', () => {
  const { state, handler } = createHandler()

  async function open(create: (options: { key: Buffer; cert: Buffer }) => Server): Promise<number> {
    const files = makeCertificate(temporaryFolder(), 'localhost', ['DNS:localhost'])
    const server = create({ key: readFileSync(files.key), cert: readFileSync(files.cert) })
    onTestFinished(() => void server.close())
    return listenOnFreePort(server)
  }

  async function openTls(port: number): Promise<Socket> {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return socket
  }

  it('a body is encrypted as its client reads', async () => {
    const responses: ServerResponse[] = []
    const listener = toNodeHandler(handler)
    const port = await open((options) =>
      createHttpsServer(options, (request, response) => {
        responses.push(response)
        listener(request, response)
      }),
    )
    const slow = await openTls(port)
    slow.pause().write(requestFor('/one'))
    await expect.poll(() => state.unsentBytes()).toBe(BODY_BYTES)
    expect(responses[0]?.writableLength).toBeLessThan(300_000)
    expect((await bodyAt(await openTls(port), '/one')).equals(BODIES['/one'] ?? Buffer.of())).toBe(
      true,
    )
    slow.resume()
    await expect.poll(() => state.unsentBytes()).toBe(0)
  })

  it('HTTP/2 sends the whole body', async () => {
    const port = await open((options) => createSecureServer(options, toNodeHandler(handler)))
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    onTestFinished(() => session.destroy())
    const chunks: Buffer[] = []
    for await (const chunk of session.request({ ':path': '/one' })) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(BODIES['/one'] ?? Buffer.of())).toBe(true)
    await expect.poll(() => state.unsentBytes()).toBe(0)
  })
})
