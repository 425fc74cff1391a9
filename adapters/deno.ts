import { MAX_STREAMS, createStreamLimit } from './connection-limit.ts'
import { failed, listenOptions, responderOf, toUrl, untilIdle } from './server.ts'
import type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

export type { FetchHandler, RunningServer, ServeOptions } from './server.ts'

interface Deno {
  serve(options: object, handler: DenoHandler): DenoServer
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
  const respond = limitStreams(handler)
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

type DenoHandler = (request: Request, info: DenoRequestInfo) => Response | Promise<Response>

interface DenoRequestInfo {
  readonly remoteAddr: { readonly hostname: string; readonly port: number }
  /** Settles when Deno has consumed the response body; immediately for a body that is not a stream. */
  readonly completed: Promise<void>
}

/** Bodies up to this length in bytes take little memory until the client reads them. */
const SHORT_BODY_BYTES = 65_536

/** Deno serves HTTP/2 on every port, and calls its handler for up to 200 requests of a client that reads nothing. */
function limitStreams(handler: FetchHandler): DenoHandler {
  const enter = createStreamLimit()
  let unsentBytes = 0
  const responder = responderOf(handler, () => unsentBytes)
  let underWay = 0
  const complete = (): void => void (underWay -= 1)

  function respond(request: Request, info: DenoRequestInfo): Response | Promise<Response> {
    underWay += 1
    const response = responder(request, info)
    return response instanceof Promise
      ? response.then((waited) => counted(waited, info))
      : counted(response, info)
  }

  function counted(response: Response, info: DenoRequestInfo): Response {
    let bytes = Infinity
    try {
      bytes = Number(response.headers.get('content-length') ?? Infinity)
      return response
    } finally {
      // Each read of `completed` takes longer than a short response.
      if (bytes <= SHORT_BODY_BYTES) complete()
      else holdUntilCompleted(info, Number.isFinite(bytes) ? bytes : 0)
    }
  }

  /** Counts a body of known length until Deno has sent it, which copies bytes that several responses share. */
  function holdUntilCompleted({ completed }: DenoRequestInfo, bytes: number): void {
    unsentBytes += bytes
    const release = (): void => {
      unsentBytes -= bytes
      complete()
    }
    completed.then(release, release)
  }

  return (request, info) => {
    // With so few responses in total, no connection exceeds the limit; reading the address would take too long.
    if (underWay < MAX_STREAMS) return respond(request, info)
    const { hostname, port } = info.remoteAddr
    const connection = `${hostname} ${port}`
    return new Promise((resolve) => {
      const { signal } = request
      const start = (): void => resolve(signal.aborted ? failed() : respond(request, info))
      const leave = enter(connection, start)
      if (!leave) return resolve(failed())
      info.completed.then(leave, leave)
      return signal.addEventListener('abort', () => resolve(failed()), { once: true })
    })
  }
}

interface DenoServer {
  readonly addr: { readonly port: number }
  readonly finished: Promise<void>
  shutdown(): Promise<void>
}

const RETRY_DELAY_MS = 1_000

/** Deno's server ends the process when more connections are open than the system allows: listens again after 1 s. */
function keepListening(
  listen: (port: number) => DenoServer,
  port: number,
): { readonly port: number; stop(): Promise<void> } {
  let isStopped = false
  let server = open(port)

  function open(at: number): DenoServer {
    const opened = listen(at)
    opened.finished.catch(() => reopen(opened.addr.port))
    return opened
  }
  function reopen(at: number): void {
    setTimeout(() => {
      try {
        if (!isStopped) server = open(at)
      } catch {
        reopen(at)
      }
    }, RETRY_DELAY_MS)
  }
  return {
    port: server.addr.port,
    async stop() {
      isStopped = true
      await server.shutdown().catch(() => {})
    },
  }
}
