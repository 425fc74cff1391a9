import type { RawRequest, RawResponse } from '../../src/index.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'

/**
 * A raw request on Node. A class, because an object literal with a getter for each request would take as long as a third of
 * the whole response.
 */
export class NodeRawRequest implements RawRequest {
  readonly method: string
  readonly target: string
  readonly #request: NodeRequest
  readonly #response: NodeResponse

  constructor(request: NodeRequest, response: NodeResponse, target: string = request.url ?? '/') {
    this.method = request.method ?? 'GET'
    this.target = target
    this.#request = request
    this.#response = response
  }

  readonly header = (name: string): string | undefined => this.#request.headers[name]?.toString()

  /** Creates a signal that aborts when the client disconnects. */
  get signal(): AbortSignal {
    const controller = new AbortController()
    this.#response.once('close', () => controller.abort())
    return controller.signal
  }
}

/** Sends a raw response. */
export function send({ status, headers, body }: RawResponse, response: NodeResponse): void {
  const list: string[] = []
  for (const [name, value] of headers) list.push(name, value)
  response.writeHead(status, list)
  response.end(body ?? undefined)
  if (response.writableLength) setStallTimeout(response)
}

/**
 * The time for which a client may accept no byte of a response. Not a round number, to differ from timeouts that the server
 * or Node sets.
 */
const STALL_TIMEOUT_MS = 30_001

/**
 * Ends `response` if its client accepts no byte for `STALL_TIMEOUT_MS`, unless the socket already has a timeout. Node's
 * timeout restarts when the operating system accepts a part of a single write.
 */
export function setStallTimeout(response: NodeResponse): void {
  const { socket } = response
  if (!socket || socket.timeout || response.writableFinished) return
  response.setTimeout?.(STALL_TIMEOUT_MS, () => {
    if (response.writableLength) response.destroy()
  })
  response.once('close', () => {
    // Otherwise the timeout would apply to the next request of the connection, which the app may handle.
    if (socket.timeout === STALL_TIMEOUT_MS) socket.setTimeout(0)
  })
}

/** Returns whether an HTTP/1 request has more than one `Host`, which servers must reject (RFC 9112, section 3.2). */
export function hasTwoHosts({ rawHeaders = [], stream }: NodeRequest): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1 && !stream
}

/** Sends 400 and ends the connection. */
export function refuse(response: NodeResponse): void {
  response.writeHead(400, ['cache-control', 'no-store', 'connection', 'close'])
  response.end()
}
