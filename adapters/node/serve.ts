import { listenOptions, toUrl } from '../server.ts'
import type { FetchHandler, RunningServer, ServeOptions } from '../server.ts'
import { prepareDrain } from './drain.ts'
import { toNodeHandler } from './handler.ts'

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
}
const TLS_LIMITS = { ...LIMITS, handshakeTimeout: 10_000 }

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
    ? process.getBuiltinModule('node:https').createServer({ ...TLS_LIMITS, ...tls }, listener)
    : process.getBuiltinModule('node:http').createServer(LIMITS, listener)
  server.maxConnections = maxConnections
  const drain = prepareDrain(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, hostname, resolve)
  })
  const address = server.address()
  const actualPort = typeof address === 'object' && address ? address.port : port
  return { url: toUrl(hostname, actualPort, tls), stop: drain }
}
