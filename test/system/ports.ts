import { createServer } from 'node:net'
import type { Server } from 'node:net'

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

/** Returns an unused port of the loopback interface. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listenOnFreePort(server)
  await new Promise((resolve) => {
    server.close(resolve)
  })
  return port
}
