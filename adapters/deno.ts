import { DRAINING_LIMIT, failed, toUrl } from './server.ts'
import type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

export type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

/** The part of Deno that is used. */
interface Deno {
  serve(
    options: object,
    handler: (request: Request) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
}

/**
 * Serves `handler` on Deno; resolves when it listens.
 *
 * @throws {Error} of Deno's own where it cannot listen
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const { Deno } = globalThis as unknown as { Deno: Deno }
  const { port = 3000, hostname = '127.0.0.1', tls } = options
  const abort = new AbortController()
  const server = Deno.serve(
    { port, hostname, ...tls, signal: abort.signal, onError: failed, onListen: () => {} },
    async (request) => handler(request),
  )
  return {
    url: toUrl(hostname, server.addr.port, tls),
    async stop() {
      const giveUp = setTimeout(() => abort.abort(), DRAINING_LIMIT)
      await server.shutdown()
      clearTimeout(giveUp)
    },
  }
}
