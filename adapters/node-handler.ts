import { flatHeaders, isStreamed } from '../src/http/response.ts'
import type { RawRequest, RawResponse, ReadBody } from '../src/index.ts'
import { createConnectionLimit } from './connection-limit.ts'
import { fromFetchStyle } from './node-fetch-style.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import {
  PART_BYTES,
  createUnsentBodies,
  refuse,
  setStallTimeout,
  writeInParts,
  writeStream,
} from './node-send.ts'
import type { Answer, FetchHandler } from './server.ts'

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

type Respond<Request> = (request: Request, response: NodeResponse, next?: () => void) => void

/** Calls `respond` at once, unless the request is of HTTP/2 or an earlier one of its connection has no response yet. */
export function limitConnections<Request extends NodeRequest>(
  respond: Respond<Request>,
): Respond<Request> {
  const limit = createConnectionLimit()
  return (request, response, next) => {
    if (request.stream?.session || (response.socket === null && isBusy(request))) {
      limit(request, response, () => respond(request, response, next))
    } else respond(request, response, next)
  }
}

/** The property of Node's sockets with the current response: undocumented, but older than most frameworks. */
const CURRENT_RESPONSE = '_httpMessage'

/** False without a socket: a framework that imitates Node's responses may never assign one; those must not wait. */
function isBusy({ socket }: NodeRequest): boolean {
  return Boolean((socket as { [CURRENT_RESPONSE]?: unknown } | undefined)?.[CURRENT_RESPONSE])
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
      if (isStreamed(body)) {
        setStallTimeout(response)
        void writeStream(body, response)
        return
      }
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

/** Returns whether an HTTP/1 request has more than one `Host`, which servers must reject (RFC 9112, section 3.2). */
export function hasTwoHosts({ rawHeaders = [], stream }: NodeRequest): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1 && !stream
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

  headers(): [name: string, value: string][] {
    // Without the pseudo-headers of HTTP/2.
    const names = this.headerNames().filter((name) => !name.startsWith(':'))
    return names.map((name) => [name, this.header(name) ?? ''])
  }

  /** In lower case, each once. */
  protected headerNames(): string[] {
    const { headers, rawHeaders } = this.request
    const names = rawHeaders?.filter((_, index) => index % 2 === 0) ?? Object.keys(headers)
    return [...new Set(names.map((name) => name.toLowerCase()))]
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
