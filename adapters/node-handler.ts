import type { IncomingMessage, ServerResponse } from 'node:http'

import { loadOnce } from '../src/async.ts'
import { flatHeaders } from '../src/http/response.ts'
import type { RawRequest, RawResponse, ReadBody } from '../src/index.ts'
import { limitConnections } from './connection-limit.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import { toServerFunction } from './server.ts'
import type { Answer, FetchHandler } from './server.ts'
import { createUnsentBodies } from './unsent-bodies.ts'

/** A request listener of Node's servers. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => void

/**
 * Creates a request listener for `node:http`, `node:https` or `node:http2`. A handler with `answer()` writes to the socket
 * directly, without a `Request` and a `Response`; any other fetch-style handler works too. If a handler fails, the response
 * is an empty 500; if a response cannot be sent, the connection ends. Clients never see exceptions.
 *
 * Pipelined HTTP/1 requests are handled one after another: the next one starts when the previous response is sent. An HTTP/2
 * connection has at most 8 responses in progress. A client that reads nothing for 30 s is disconnected, unless the server
 * has a `timeout`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createRatesHandler } from 'ratesmith'
 * import { toNodeHandler } from 'ratesmith/node'
 *
 * createServer(toNodeHandler(createRatesHandler())).listen(3000, '127.0.0.1')
 * ```
 */
export function toNodeHandler(handler: FetchHandler): NodeHandler {
  const { answer } = handler
  const respond = answer ? fromRawResponses(answer) : fromFetchStyle(handler)
  return limitConnections((request, response) => {
    if (hasTwoHosts(request)) refuse(response)
    else respond(request, response)
  })
}

function fromRawResponses(answer: Answer): NodeHandler {
  const { send, unsentBytes } = createSender()
  return (request, response) =>
    respondWith(answer, new NodeRawRequest(request, response, unsentBytes), response, send)
}

/** Calls `finish` with the response to a request, without a promise if there is none; ends the connection after a failure. */
export function respondWith(
  answer: Answer,
  request: RawRequest,
  response: NodeResponse,
  finish: (raw: RawResponse, response: NodeResponse) => void,
): void {
  async function finishLater(raw: Promise<RawResponse>): Promise<void> {
    try {
      finish(await raw, response)
    } catch {
      response.destroy()
    }
  }
  try {
    const raw = answer(request)
    if (raw instanceof Promise) void finishLater(raw)
    else finish(raw, response)
  } catch {
    response.destroy()
  }
}

function fromFetchStyle(handler: FetchHandler): NodeHandler {
  const load = loadOnce(async () => loadAdapter(handler))
  // Each request handles the rejection instead.
  load().catch(() => undefined)
  return (request, response) => {
    // `Request` supports neither method, and TRACE must not echo the request.
    if (request.method === 'TRACE' || request.method === 'CONNECT') {
      response.writeHead(405, ['cache-control', 'no-store'])
      response.end()
      return
    }
    // The URL is built from Host and target; neither may change the other's part.
    if (!/^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(request.headers.host ?? '')) {
      request.headers.host = 'localhost'
    }
    request.url = request.url?.replace(/^https?:[/\\]*[^/\\?#]*/i, '') ?? '/'
    load()
      .then((handle) => handle(request, response))
      .catch(() => response.destroy())
  }
}

interface NodeContext {
  req: NodeRequest
  res: NodeResponse
}

/** Loaded on demand, because it is larger than the rest of this package and most handlers do not need it. */
async function loadAdapter(
  handler: FetchHandler,
): Promise<(request: NodeRequest, response: NodeResponse) => Promise<void>> {
  const { createServerAdapter } = await import('@whatwg-node/server')
  const respond = toServerFunction(handler)
  const adapter = createServerAdapter<NodeContext>(
    async (request: Request, { req: { socket }, res }: NodeContext) => {
      const response = await respond(request, { client: socket?.remoteAddress })
      // Later, because the adapter clears the socket's timeout when it starts to send.
      setImmediate(setStallTimeout, res)
      return response
    },
  )
  return (request, response) =>
    adapter.handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
}

/** A class: an object literal with a getter for each request would take a third as long as the whole response. */
export class NodeRawRequest implements RawRequest {
  readonly method: string
  readonly target: string
  readonly unsentBytes: () => number
  protected readonly request: NodeRequest
  readonly #response: NodeResponse

  constructor(
    request: NodeRequest,
    response: NodeResponse,
    unsentBytes: () => number,
    target: string = request.url ?? '/',
  ) {
    this.method = request.method ?? 'GET'
    this.target = target
    this.unsentBytes = unsentBytes
    this.request = request
    this.#response = response
  }

  header(name: string): string | undefined {
    const { rawHeaders } = this.request
    const value = rawHeaders && singleHeader(rawHeaders, name)
    return value === undefined ? this.request.headers[name]?.toString() : (value ?? undefined)
  }

  get client(): string | undefined {
    return this.request.socket?.remoteAddress
  }

  get signal(): AbortSignal {
    // `close` is emitted once.
    if (this.#response.destroyed) return AbortSignal.abort()
    const controller = new AbortController()
    this.#response.once('close', () => controller.abort())
    return controller.signal
  }

  async readBody(...[onChunk, signal]: Parameters<ReadBody>): Promise<void> {
    const { readNodeBody } = await import('./node-body.ts')
    await readNodeBody(this.request, onChunk, signal)
  }
}

/** Null if absent, undefined if repeated: Node then decides how to join the values. */
function singleHeader(rawHeaders: readonly string[], name: string): string | null | undefined {
  const { length } = name
  let found: string | null = null
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index]
    if (each?.length === length && (each === name || each.toLowerCase() === name)) {
      if (found !== null) return undefined
      found = rawHeaders[index + 1] ?? ''
    }
  }
  return found
}

const REQUEST_TIMEOUT = 408

interface Sender {
  send(raw: RawResponse, response: NodeResponse): void
  unsentBytes(): number
}

export function createSender(): Sender {
  const unsent = createUnsentBodies()
  return {
    unsentBytes: unsent.bytes,
    send({ status, headers, body }, response) {
      const list = flatHeaders(headers)
      // Otherwise the connection would wait for the rest of a slow request body. HTTP/2 ignores the header.
      const isLast = status === REQUEST_TIMEOUT
      response.writeHead(status, isLast ? [...list, 'connection', 'close'] : list)
      const isLarge = body instanceof Uint8Array && body.length > PART_BYTES
      const isInParts = isLarge && response.socket?.encrypted
      if (isInParts) writeInParts(body, response)
      else response.end(body ?? undefined)
      if (!response.writableLength && !isInParts) return
      setStallTimeout(response)
      if (body === null) return
      const remove = unsent.add(body)
      response.once('finish', remove)
      response.once('close', remove)
    },
  }
}

const PART_BYTES = 262_144

/** Writes the next part when the previous one is sent: TLS encrypts a whole write at once, into memory of the connection. */
function writeInParts(body: Uint8Array, response: NodeResponse): void {
  let at = 0
  const writeNext = (): void => {
    for (;;) {
      const part = body.subarray(at, (at += PART_BYTES))
      if (at >= body.length) {
        response.end(part)
        return
      }
      if (response.write?.(part) === false) {
        response.once('drain', writeNext)
        return
      }
    }
  }
  writeNext()
}

/** Not a round number, to differ from timeouts that the server or Node sets. */
const STALL_TIMEOUT_MS = 30_001

/** Unless the socket has a timeout. Node's timeout restarts when the operating system accepts a part of a single write. */
function setStallTimeout(response: NodeResponse): void {
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

export function refuse(response: NodeResponse): void {
  response.writeHead(400, ['cache-control', 'no-store', 'connection', 'close'])
  response.end()
}
