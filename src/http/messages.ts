import type { ReadBody } from './read-body.ts'

/** The parts of an HTTP request that determine the response; input of `handler.answer()`. */
export interface RawRequest {
  /** Request method in capitals: `GET`, `HEAD`, `OPTIONS` … */
  method: string
  /** Raw path and query, or an absolute URL, whose authority is ignored. */
  target: string
  /** Returns the value of a request header by lower-case name; repeated headers are joined by commas. */
  header(name: string): string | null | undefined
  /** Returns all headers, for the option `routes`, whose requests have none without it. */
  headers?(): Iterable<readonly [name: string, value: string]>
  /** Ends the wait for data. */
  signal?: AbortSignal | undefined
  /**
   * IP address at the other end of the connection, without a port: of the client, or of the last proxy. A forwarding header
   * must not be the source.
   */
  client?: string | undefined
  /** Identifies the request in logs and in `internal_error` events. */
  requestId?: string | undefined
  /**
   * Reads the body of a `POST`: calls `onChunk` with its parts in order and resolves after the last one. Rejects when the
   * client disconnects or `signal` aborts, and then reads no further. Called at most once. Without it, every `POST` is
   * refused.
   */
  readBody?: ReadBody | undefined
  /**
   * Returns the bytes of response bodies that wait for their clients to read, over all connections of the server. While they
   * exceed 256 MiB, requests for large bodies get a 503. Without it, nothing limits what clients that do not read hold.
   */
  unsentBytes?(): number
}

/**
 * Returns `request` with `properties`. All others are read on demand, from the request itself: some hosts throw when one is
 * read.
 */
export function withProperties(request: RawRequest, properties: Partial<RawRequest>): RawRequest {
  // Not of `request`: a proxy of a frozen object may not bind its functions.
  return new Proxy<RawRequest>(Object.create(null), {
    get(_, name) {
      if (Object.hasOwn(properties, name)) return Reflect.get(properties, name)
      const value: unknown = Reflect.get(request, name)
      return typeof value === 'function' ? value.bind(request) : value
    },
  })
}

/** A header: lower-case name and value. */
export type Header = [name: string, value: string]

/** A body in parts that are computed as they are read. It throws where the rest cannot be sent, and must be read once. */
export type StreamedBody = AsyncIterable<ReturnType<typeof Uint8Array.of>>

/** Status, headers and body of a response. Do not modify headers and body: responses share them. */
export interface EndpointResponse {
  /** HTTP status code. */
  status: number
  /** Headers with lower-case names. */
  headers: Header[]
  /**
   * Bytes, text (to send as UTF-8), bytes in parts, or null for an empty body. Bytes are a `Uint8Array<ArrayBuffer>`, in a notation that
   * TypeScript before 5.7 also accepts.
   */
  body: ReturnType<typeof Uint8Array.of> | string | StreamedBody | null
}

/** A response as data, to write to a socket or to wrap in a `Response`; result of `handler.answer()`. */
export interface RawResponse extends EndpointResponse {
  /** False if the path does not belong to the API; an app with its own routes then handles the request. */
  matched: boolean
}

/**
 * Reads properties on demand, inside the error handling: some hosts throw when the URL of a malformed request is read. A
 * class: getters for every request would take longer than the rest of the response.
 */
export class FetchRawRequest implements RawRequest {
  readonly #request: Request
  readonly #info: unknown
  readonly #unsentBytes: RawRequest['unsentBytes']

  constructor(request: Request, info?: unknown, unsentBytes?: RawRequest['unsentBytes']) {
    this.#request = request
    this.#info = info
    this.#unsentBytes = unsentBytes
  }

  get method(): string {
    return this.#request.method
  }

  get target(): string {
    return targetBehind(this.#request.headers.get('host'), this.#request.url)
  }

  header(name: string): string | null {
    return this.#request.headers.get(name)
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#request.headers
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get client(): string | undefined {
    return addressIn(this.#info, this.#request)
  }

  async readBody(...[onChunk, signal]: Parameters<ReadBody>): Promise<void> {
    const { body } = this.#request
    if (!body) return
    const { readStream } = await import('./read-body.ts')
    await readStream(body, onChunk, signal)
  }

  unsentBytes(): number {
    return this.#unsentBytes?.() ?? 0
  }
}

/** The second argument of fetch-style handlers, where it has the client's address: Bun's server, Deno's info, or ours. */
interface ConnectionInfo {
  client?: unknown
  remoteAddr?: { hostname?: unknown } | undefined
  requestIP?: unknown
}

function addressIn(info: unknown, request: Request): string | undefined {
  if (typeof info !== 'object' || info === null) return undefined
  try {
    const { client, remoteAddr, requestIP }: ConnectionInfo = info
    const found: { address?: unknown } =
      typeof requestIP === 'function' ? Object(requestIP.call(info, request)) : {}
    const address = client ?? remoteAddr?.hostname ?? found.address
    return typeof address === 'string' ? address : undefined
  } catch {
    // Bindings of a host may throw when they are read.
    return undefined
  }
}

/** Deno uses the `Host` header unchecked: a slash or question mark in it would look like a path or a query. */
function targetBehind(host: string | null, url: string): string {
  if (!host) return url
  const start = url.startsWith('http://') ? 7 : url.startsWith('https://') ? 8 : 0
  const end = start + host.length
  return url.startsWith(host, start) && url[end] === '/' ? url.slice(end) : url
}
