import { MAX_STREAMS, createConnectionLimit } from '../connection-limit.ts'
import { failed } from '../raw-response.ts'

/** The used part of Deno's second handler argument. */
export interface DenoRequestInfo {
  readonly remoteAddr: { readonly hostname: string; readonly port: number }
  /** Settles when Deno has consumed the response body; immediately for a body that is not a stream. */
  readonly completed: Promise<void>
}

/**
 * Limits the concurrent responses of an HTTP/2 connection: Deno serves HTTP/2 on every port, and calls its handler for up to
 * 200 requests of a client that reads nothing.
 */
export function limitStreams(
  respond: (request: Request) => Promise<Response>,
): (request: Request, info: DenoRequestInfo) => Promise<Response> {
  const limit = createConnectionLimit()
  let underWay = 0
  const complete = (): void => void (underWay -= 1)

  return (request, info) => {
    underWay += 1
    info.completed.then(complete, complete)
    // With so few responses in total, no connection exceeds the limit; reading the address would take too long.
    if (underWay <= MAX_STREAMS) return respond(request)
    const { hostname, port } = info.remoteAddr
    const connection = `${hostname} ${port}`
    return new Promise((resolve) => {
      const { signal } = request
      const start = (): void => resolve(signal.aborted ? failed() : respond(request))
      if (!limit.enter(connection, start)) return resolve(failed())
      const leave = (): void => limit.leave(connection, start)
      info.completed.then(leave, leave)
      return signal.addEventListener('abort', () => resolve(failed()), { once: true })
    })
  }
}
