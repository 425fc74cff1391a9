import { answerOf, failed } from './raw-response.ts'
import { listenOptions, toUrl } from './server.ts'
import type { FetchHandler, RunningServer, ServeOptions } from './server.ts'
import { untilIdle } from './until-idle.ts'

export type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

/** The part of Bun that is used. */
interface Bun {
  serve(options: object): {
    readonly port: number
    readonly pendingRequests: number
    stop(closeActiveConnections?: boolean): Promise<void>
  }
}

/**
 * Serves `handler` on Bun; resolves when it listens.
 *
 * @throws {Error} with a `code` where it cannot listen
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const { Bun } = globalThis as unknown as { Bun: Bun }
  const { port, hostname, tls } = listenOptions(options)
  const fetch = (request: Request): Promise<Response> => answerOf(handler, request)
  // Outside development Bun lets several servers share a port, unless it is told not to.
  const listening = { port, hostname, tls, reusePort: false }
  const server = Bun.serve({ ...listening, fetch, error: failed, development: false })
  return {
    url: toUrl(hostname, server.port, tls),
    async stop() {
      void server.stop()
      // Bun itself would also wait for connections that are merely kept alive.
      await untilIdle(() => server.pendingRequests > 0)
      await server.stop(true)
    },
  }
}
