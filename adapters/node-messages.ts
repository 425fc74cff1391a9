/** The used part of Node's `IncomingMessage`, HTTP/1 or HTTP/2. */
export interface NodeRequest {
  /** The method (default `GET`). */
  method?: string | undefined
  /** Path and query as received (default `/`). */
  url?: string | undefined
  /** Header values by lower-case name. */
  headers: { [name: string]: string | string[] | undefined; host?: string | undefined }
  /** Alternating header names and values, as received. */
  rawHeaders?: string[] | undefined
  /** The connection. */
  socket?: RequestSocket | undefined
  /** The stream of an HTTP/2 request. */
  stream?: RequestStream | undefined
  /** The body, if middleware has read it before: parsed, as text or as bytes. */
  body?: unknown
  /** Whether the body has been read to its end. */
  readonly readableEnded?: boolean | undefined
  /** Whether the client has disconnected. */
  readonly destroyed?: boolean | undefined
  /** Calls `listener` with each part of the body. */
  on?(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  /** Calls `listener` at the end of the body, or when the client has disconnected. */
  on?(event: 'end' | 'close' | 'error', listener: () => void): unknown
  /** Removes a listener. */
  off?(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  /** Removes a listener. */
  off?(event: 'end' | 'close' | 'error', listener: () => void): unknown
  /** Continues reading; without a listener, discards the body. */
  resume?(): unknown
}

/** The used part of a request's socket. */
export interface RequestSocket {
  /** Whether the connection has ended. */
  readonly destroyed: boolean
  /** IP address at the other end; undefined once the client has disconnected. */
  readonly remoteAddress?: string | undefined
  /** Stops reading. */
  pause(): unknown
  /** Continues reading. */
  resume(): unknown
  /** Ends the connection. */
  destroy(): unknown
  /** Calls `listener` when the connection has ended. */
  once(event: 'close', listener: () => void): unknown
}

/** The used part of the stream of an HTTP/2 request and its response. */
export interface RequestStream {
  /** The connection. */
  readonly session?: object | undefined
  /** Whether the stream has ended. */
  readonly destroyed: boolean
  /** Ends the stream with an HTTP/2 error code. */
  close(code: number): unknown
}

/** The used part of Node's `ServerResponse`, HTTP/1 or HTTP/2. */
export interface NodeResponse {
  /** Sets the status and the headers, given as alternating names and values. */
  writeHead(status: number, headers: string[]): unknown
  /** Sends the head and a part of the body; returns false if the next part has to wait for `drain`. */
  write?(part: Uint8Array): unknown
  /** Sends the head and the rest of the body. */
  end(body?: Uint8Array | string): unknown
  /** Ends the connection without a response. */
  destroy(): unknown
  /**
   * Calls `listener` on `close`, when the response is sent or the client has disconnected; on `finish`, when the operating
   * system has accepted all bytes; on `drain`, when it has accepted those written so far; or on `socket` (HTTP/1), when the
   * responses to all earlier requests of the connection are sent.
   */
  once(event: 'close' | 'drain' | 'finish' | 'socket', listener: () => void): unknown
  /** Calls `listener` after `ms` without a byte read or written. */
  setTimeout?(ms: number, listener: () => void): unknown
  /** Null in HTTP/1 until the responses to all earlier requests of the connection are sent. */
  readonly socket?: ResponseSocket | null | undefined
  /** The stream of an HTTP/2 response. */
  readonly stream?: RequestStream | undefined
  /** Bytes that the operating system has not accepted yet. */
  readonly writableLength?: number | undefined
  /** Whether the operating system has accepted all bytes. */
  readonly writableFinished?: boolean | undefined
  /** Whether the client has disconnected. */
  readonly destroyed?: boolean | undefined
}

/** The used part of a response's socket. */
export interface ResponseSocket {
  /** Whether the connection uses TLS. */
  readonly encrypted?: boolean | undefined
  /** Idle timeout in ms; 0 or undefined for none. */
  readonly timeout?: number | undefined
  /** Sets the idle timeout in ms; 0 for none. */
  setTimeout(ms: number): unknown
}
