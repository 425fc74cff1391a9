import { keepListening } from './deno/listening.ts'
import type { DenoServer } from './deno/listening.ts'
import { limitStreams } from './deno/streams.ts'
import type { DenoRequestInfo } from './deno/streams.ts'
import { failed, responseOf } from './raw-response.ts'
import { listenOptions, toUrl } from './server.ts'
import type { FetchHandler, RunningServer, ServeOptions } from './server.ts'
import { untilIdle } from './until-idle.ts'

export type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

interface Deno {
  serve(
    options: object,
    handler: (request: Request, info: DenoRequestInfo) => Promise<Response>,
  ): DenoServer
}

/**
 * Serves `handler` on Deno; resolves when the server listens. Deno has no timeouts for TLS handshakes and request heads: put
 * a proxy in front of a public server.
 *
 * @throws {Error} Deno's error if the server cannot listen
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { serve } from 'ratesmith/deno'
 *
 * const server = await serve(createRatesHandler(), { port: 3000 })
 * console.log(`${server.url}/api/v1/latest`)
 * ```
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const { Deno } = globalThis as unknown as { Deno: Deno }
  const { port, hostname, tls } = listenOptions(options)
  const settings = { hostname, ...tls, onError: failed, onListen: () => {} }
  const respond = limitStreams((request) => responseOf(handler, request))
  const listening = keepListening((at) => Deno.serve({ ...settings, port: at }, respond), port)
  return {
    url: toUrl(hostname, listening.port, tls),
    async stop() {
      let hasStopped = false
      void listening.stop().then(() => (hasStopped = true))
      // During a shutdown, Deno cannot abort responses in progress: an attempt ends the process.
      await untilIdle(() => !hasStopped)
    },
  }
}
