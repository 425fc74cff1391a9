import type { RawResponse, RawRequest } from '../../src/index.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'

/**
 * What an answer depends on. A class, because the getter of an object made for each request would cost as much as a third of
 * the answer.
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

  /** Made for whoever asks for it; aborts when the client has left. */
  get signal(): AbortSignal {
    const controller = new AbortController()
    this.#response.once('close', () => controller.abort())
    return controller.signal
  }
}

/** Sends `answer` through `response`. */
export function send({ status, headers, body }: RawResponse, response: NodeResponse): void {
  const list: string[] = []
  for (const [name, value] of headers) list.push(name, value)
  response.writeHead(status, list)
  response.end(body ?? undefined)
  if (response.writableLength) setStallTimeout(response)
}

/**
 * How long a client may accept nothing of a response. Not a round number: a timeout that the server's owner or Node has set
 * differs from it.
 */
const STALL_TIMEOUT_MS = 30_001

/**
 * Ends `response` when its client accepts nothing for `MAX_STALL_MS`, unless the socket has a timeout already. Node's
 * timeout notices when the system has accepted a part of a single write.
 */
export function setStallTimeout(response: NodeResponse): void {
  const { socket } = response
  if (!socket || socket.timeout || response.writableFinished) return
  response.setTimeout?.(STALL_TIMEOUT_MS, () => {
    if (response.writableLength) response.destroy()
  })
  response.once('close', () => {
    // Otherwise it would hold for the next request of the connection, which may be answered by the app.
    if (socket.timeout === STALL_TIMEOUT_MS) socket.setTimeout(0)
  })
}

/** Returns whether a request of HTTP/1 has more than one `Host`, which servers must refuse (RFC 9112, section 3.2). */
export function hasTwoHosts({ rawHeaders = [], stream }: NodeRequest): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1 && !stream
}

/** Sends 400 for a malformed request, and ends the connection. */
export function refuse(response: NodeResponse): void {
  response.writeHead(400, ['cache-control', 'no-store', 'connection', 'close'])
  response.end()
}
