import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'

import { untilIdle } from '../until-idle.ts'

/** For this time before connections are closed, responses carry `Connection: close`. */
const NOTICE_MS = 200

/**
 * Returns a function that stops `server`; call it before `server` listens. After 200 ms of notice, `server` accepts no more
 * connections; all are closed when no response is in progress, or after 10 s.
 */
export function prepareDrain(server: Server): () => Promise<void> {
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
