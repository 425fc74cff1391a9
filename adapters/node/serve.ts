import { listenOptions, toUrl } from '../server.ts'
import type { FetchHandler, RunningServer, ServeOptions } from '../server.ts'
import { prepareDrain } from './drain.ts'
import { toNodeHandler } from './handler.ts'

/** A client must have sent its headers, and its whole request, after so many ms; looked after every few seconds. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
}
/** The same of its handshake. */
const TLS_LIMITS = { ...LIMITS, handshakeTimeout: 10_000 }

/**
 * Serves `handler` on Node over HTTP/1.1; resolves when it listens.
 *
 * @throws {Error} with Node's `code` where it cannot listen
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const { port, hostname, maxConnections, tls } = listenOptions(options)
  const listener = toNodeHandler(handler)
  // To import these loads whatever they export: a WebSocket too, and with it Node's whole `fetch`.
  const server = tls
    ? process.getBuiltinModule('node:https').createServer({ ...TLS_LIMITS, ...tls }, listener)
    : process.getBuiltinModule('node:http').createServer(LIMITS, listener)
  server.maxConnections = maxConnections
  const drain = prepareDrain(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, hostname, resolve)
  })
  const address = server.address()
  const heard = typeof address === 'object' && address ? address.port : port
  return { url: toUrl(hostname, heard, tls), stop: drain }
}
