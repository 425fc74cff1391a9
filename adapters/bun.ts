import { failed, listenOptions, responderOf, toUrl, untilIdle } from './server.ts'
import type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

export type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

interface Bun {
  serve(options: object): {
    readonly port: number
    readonly pendingRequests: number
    stop(closeActiveConnections?: boolean): Promise<void>
  }
}

/**
 * Serves `handler` on Bun; resolves when the server listens.
 *
 * @throws {Error} with a `code` if the server cannot listen
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { serve } from 'ratesmith/bun'
 *
 * const server = await serve(createRatesHandler(), { port: 3000 })
 * console.log(`${server.url}/api/v1/latest`)
 * ```
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const { Bun } = globalThis as unknown as { Bun: Bun }
  const { port, hostname, tls } = listenOptions(options)
  // Bun's own server, whose requestIP() returns the address of the client.
  const fetch = responderOf(handler)
  // By default, Bun lets several servers share a port outside development.
  const listening = { port, hostname, tls, reusePort: false }
  const server = Bun.serve({ ...listening, fetch, error: failed, development: false })
  return {
    url: toUrl(hostname, server.port, tls),
    async stop() {
      void server.stop()
      // Bun itself also waits for idle keep-alive connections.
      await untilIdle(() => server.pendingRequests > 0)
      await server.stop(true)
    },
  }
}
