import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'

import { toNodeHandler } from './node-handler.ts'
import { listenOptions, toUrl, untilIdle } from './server.ts'
import type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

export { toNodeHandler } from './node-handler.ts'
export type { NodeHandler } from './node-handler.ts'
export type {
  NodeRequest,
  NodeResponse,
  RequestSocket,
  RequestStream,
  ResponseSocket,
} from './node-messages.ts'
export type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  // For TLS.
  handshakeTimeout: 10_000,
}

/**
 * Serves `handler` on Node over HTTP/1.1; resolves when the server listens. A client has 10 s to send its headers and 30 s
 * to send its whole request.
 *
 * @throws {Error} with Node's `code` if the server cannot listen
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { serve } from 'ratesmith/node'
 *
 * const server = await serve(createRatesHandler(), { port: 3000 })
 * console.log(`${server.url}/api/v1/latest`)
 * ```
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const { port, hostname, maxConnections, tls } = listenOptions(options)
  const listener = toNodeHandler(handler)
  // An import would evaluate all exports, including WebSocket, which loads Node's whole `fetch`.
  const server = tls
    ? process.getBuiltinModule('node:https').createServer({ ...LIMITS, ...tls }, listener)
    : process.getBuiltinModule('node:http').createServer(LIMITS, listener)
  server.maxConnections = maxConnections
  const drain = prepareDrain(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, hostname, resolve)
  })
  const { port: actualPort }: { port: number } = Object(server.address())
  return { url: toUrl(hostname, actualPort, tls), stop: drain }
}

/** For this time before connections are closed, responses carry `Connection: close`. */
const NOTICE_MS = 200

/** Call before `server` listens. After 200 ms of notice, no new connections; all close when idle, or after 10 s. */
function prepareDrain(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>()
  // Requests without a complete response, by socket: Node 22 never closes those that waited on a lost connection.
  const underWay = new Map<Socket, number>()
  let isStopping = false
  // Node's own methods miss connections before their first request or TLS handshake.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const earlier = underWay.get(socket)
    if (earlier === undefined) socket.once('close', () => underWay.delete(socket))
    underWay.set(socket, (earlier ?? 0) + 1)
    response.once('close', () => {
      const count = underWay.get(socket)
      if (count !== undefined) underWay.set(socket, count - 1)
    })
    // Otherwise a client could send its next request while the connection is being closed.
    if (isStopping) response.setHeader('connection', 'close')
  })
  const isBusy = (): boolean => [...underWay.values()].some((count) => count > 0)
  return async () => {
    isStopping = true
    let closed: Promise<unknown> | undefined
    setTimeout(() => (closed = new Promise((resolve) => void server.close(resolve))), NOTICE_MS)
    await untilIdle(() => !closed || isBusy())
    for (const socket of sockets) socket.destroy()
    await closed
  }
}
