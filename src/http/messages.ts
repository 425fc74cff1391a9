import type { ReadBody } from './body.ts'

/** The parts of an HTTP request that determine the response; input of `handler.answer()`. */
export interface RawRequest {
  /** Request method in capitals: `GET`, `HEAD`, `OPTIONS` … */
  method: string
  /** Raw path and query, or an absolute URL, whose authority is ignored. */
  target: string
  /** Returns the value of a request header by lower-case name; repeated headers are joined by commas. */
  header: (name: string) => string | null | undefined
  /** Ends the wait for data. */
  signal?: AbortSignal | undefined
  /**
   * Reads the body of a `POST`: calls `onChunk` with its parts in order and resolves after the last one. Rejects when the
   * client disconnects or `signal` aborts, and then reads no further. Called at most once. Without it, every `POST` is
   * refused.
   */
  readBody?: ReadBody | undefined
}

/** A header: lower-case name and value. */
export type Header = [name: string, value: string]

/** Status, headers and body of a response. Do not modify headers and body: responses share them. */
export interface EndpointResponse {
  /** HTTP status code. */
  status: number
  /** Headers with lower-case names. */
  headers: Header[]
  /**
   * Bytes, text (to send as UTF-8), or null for an empty body. Bytes are a `Uint8Array<ArrayBuffer>`, in a notation that
   * TypeScript before 5.7 also accepts.
   */
  body: ReturnType<typeof Uint8Array.of> | string | null
}

/** A response as data, to write to a socket or to wrap in a `Response`; result of `handler.answer()`. */
export interface RawResponse extends EndpointResponse {
  /** False if the path does not belong to the API; an app with its own routes then handles the request. */
  matched: boolean
}

/**
 * A `Request` as a `RawRequest`. Reads properties on demand, inside the error handling: some hosts throw when the URL of a
 * malformed request is read. A class, because creating getters for every request would take longer than the rest of the
 * response.
 */
export class FetchRawRequest implements RawRequest {
  readonly #request: Request

  constructor(request: Request) {
    this.#request = request
  }

  get method(): string {
    return this.#request.method
  }

  get target(): string {
    return targetBehind(this.#request.headers.get('host'), this.#request.url)
  }

  readonly header = (name: string): string | null => this.#request.headers.get(name)

  get signal(): AbortSignal {
    return this.#request.signal
  }

  async readBody(...[onChunk, signal]: Parameters<ReadBody>): Promise<void> {
    const { body } = this.#request
    if (!body) return
    const { readStream } = await import('./body.ts')
    await readStream(body, onChunk, signal)
  }
}

/**
 * Returns the target in `url`, which a server has built from the `Host` header. Deno uses that header unchecked, so a slash
 * or a question mark in it would look like a path or a query.
 */
export function targetBehind(host: string | null, url: string): string {
  if (!host) return url
  const [scheme] = /^https?:\/\//.exec(url) ?? ['']
  const target = url.slice(scheme.length + host.length)
  return url === scheme + host + target && target.startsWith('/') ? target : url
}
