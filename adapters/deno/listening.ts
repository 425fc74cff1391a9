/** The part of a server of Deno's that is used. */
export interface DenoServer {
  readonly addr: { readonly port: number }
  readonly finished: Promise<void>
  shutdown(): Promise<void>
}

/** How long a port is left alone before it is listened on again, in ms. */
const RETRY_DELAY_MS = 1_000

/**
 * Listens on `port`, and again whenever the server comes to an end that nobody asked for: Deno's does, and would end the
 * process, where more connections are open than the system allows.
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
