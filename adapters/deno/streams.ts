import { failed } from '../raw-response.ts'
import { MAX_STREAMS, createConnectionLimit } from '../connection-limit.ts'

/** The part of what Deno passes on with a request that is used. */
export interface DenoRequestInfo {
  readonly remoteAddr: { readonly hostname: string; readonly port: number }
  /** Settles when the response has been taken from Deno's server; a body that is not a stream, at once. */
  readonly completed: Promise<void>
}

/**
 * Limits the responses of an HTTP/2 connection that are under way at a time: Deno serves HTTP/2 on every port, and calls
 * its handler for up to 200 requests of a client that reads nothing.
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
    // While there are so few in all, no connection has more. To look at the address would cost too much.
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
