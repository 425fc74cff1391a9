import { createServer } from 'node:net'
import type { Server } from 'node:net'

/** Has `server` listen on a free port of the loopback interface, and resolves with that port. */
export async function listenOnFreePort(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return portOf(server)
}

/** The port that `server` listens on. */
function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the server does not listen')
  return address.port
}

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listenOnFreePort(server)
  await new Promise((resolve) => {
    server.close(resolve)
  })
  return port
}
