import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'

/** Starts `server` on a free port of the loopback interface, and returns the port. */
export async function listenOnFreePort(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return portOf(server)
}

function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the server does not listen')
  return address.port
}

/** Returns the port in the URL of a server. */
export function portIn(url: string): number {
  return Number(new URL(url).port)
}

/**
 * Returns an unused port of the loopback interface, below those that systems give to outgoing connections: a client that
 * retries on a port of that range may be given the same port for itself, and then no server can listen on it.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000)
  const server = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!isFree) return freePort()
  await new Promise((resolve) => {
    server.close(resolve)
  })
  return port
}

/** What came back: the status of the first response, if any, and the whole text. */
export type SocketResponse = Awaited<ReturnType<typeof sendRaw>>

/** Opens a connection to `port`; never throws. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await new Promise((resolve) => {
    socket.once('connect', resolve).once('close', resolve)
  })
  return socket
}

/** When a client stops reading. */
export interface ReadOptions {
  /** Returns whether the text so far is complete (default one whole response). */
  isComplete?: (soFar: string) => boolean
  /** Time without a byte before it gives up, in ms (default 20,000). */
  timeout?: number
  /** The same after the first byte (default `timeout`). */
  nextTimeout?: number
}

/** Writes `text` as it is, and reads until it is complete, the connection closes or the time limit is reached. */
export async function sendRaw(
  port: number,
  text: string,
  { isComplete = isWhole, timeout = 20_000, nextTimeout = timeout }: ReadOptions = {},
) {
  const socket = await openSocket(port)
  let received = ''
  await new Promise<void>((resolve) => {
    let giveUp = setTimeout(resolve, timeout)
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk
      clearTimeout(giveUp)
      giveUp = setTimeout(resolve, nextTimeout)
      if (isComplete(received)) socket.destroy()
    })
    socket.once('close', () => {
      clearTimeout(giveUp)
      resolve()
    })
    socket.write(text)
  })
  socket.destroy()
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(received) ?? []
  return { status: status === undefined ? undefined : Number(status), text: received }
}

function isWhole(text: string): boolean {
  const [head = '', body] = text.split('\r\n\r\n', 2)
  if (body === undefined) return false
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? []
  if (length !== undefined) return Buffer.byteLength(body) >= Number(length)
  return text.endsWith('\r\n0\r\n\r\n') || /^HTTP\/1\.[01] (204|304)/.test(text)
}
