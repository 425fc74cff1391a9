/** The used part of a Deno server. */
export interface DenoServer {
  readonly addr: { readonly port: number }
  readonly finished: Promise<void>
  shutdown(): Promise<void>
}

const RETRY_DELAY_MS = 1_000

/**
 * Listens on `port`, and again 1 s after an unexpected end of the server: Deno's server fails, and would end the process,
 * when more connections are open than the operating system allows.
 */
export function keepListening(
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
