import { targetBehind } from './target.ts'

/** A request, as far as an answer depends on it. */
export interface RawRequest {
  /** `GET`, `HEAD`, `OPTIONS` …, in capitals. */
  method: string
  /** Path and query as they came, or an absolute URL whose authority is ignored. */
  target: string
  /** The value of a request header by its lower-case name; several of one name joined by commas. */
  header: (name: string) => string | null | undefined
  /** Ends the waiting for data. */
  signal?: AbortSignal | undefined
}

/** A header; its name is in lower case. */
export type Header = [name: string, value: string]

/** What is said, wherever it was asked. Headers and body may be those of other answers too, and are not to be written to. */
export interface EndpointResponse {
  /** Status code of HTTP. */
  status: number
  /** Names in lower case. */
  headers: Header[]
  /**
   * Bytes, text (to be sent as UTF-8), or null for none. Bytes are a `Uint8Array<ArrayBuffer>`, in words that compilers
   * before TypeScript 5.7 know as well.
   */
  body: ReturnType<typeof Uint8Array.of> | string | null
}

/** An answer as data, ready to be written to a socket or wrapped in a `Response`. */
export interface RawResponse extends EndpointResponse {
  /** False where the path is none of ours: an app that the handler is mounted in may have something there. */
  matched: boolean
}

/**
 * What of `request` an answer depends on. It is read when it is needed, where a failure becomes an answer: some hosts
 * throw on the way to the URL of a malformed request. A class, because getters of an object made for each request would
 * take longer than all the rest of the answer.
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
}
