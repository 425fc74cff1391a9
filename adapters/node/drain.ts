import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'

import { untilIdle } from '../until-idle.ts'

/** For how long clients that keep their connections are told that these will be closed, in ms, before they are. */
const NOTICE = 200

/**
 * What stops `server`, which has not listened yet: after a short notice it takes no more connections, and all are closed as
 * soon as no answer is under way, or when those take too long.
 */
export function prepareDrain(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>()
  const underWay = new Set<ServerResponse>()
  let isStopping = false
  // Node itself knows of no connection before its first request, nor before its handshake.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  server.prependListener('request', (_request: unknown, response: ServerResponse) => {
    underWay.add(response.once('close', () => underWay.delete(response)))
    // Otherwise a client could send its next request just when the connection is closed.
    if (isStopping) response.setHeader('connection', 'close')
  })
  return async () => {
    isStopping = true
    let closed: Promise<unknown> | undefined
    setTimeout(() => (closed = new Promise((resolve) => void server.close(resolve))), NOTICE)
    await untilIdle(() => !closed || underWay.size > 0)
    for (const socket of sockets) socket.destroy()
    await closed
  }
}
