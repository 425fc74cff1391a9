/** The part of Node's `IncomingMessage`, of HTTP/1 or HTTP/2, that is read. */
export interface NodeRequest {
  /** `GET` where absent. */
  method?: string | undefined
  /** Path and query as they came; `/` where absent. */
  url?: string | undefined
  /** By lower-case name. */
  headers: { [name: string]: string | string[] | undefined; host?: string | undefined }
  /** Names and values in turn, as they came. */
  rawHeaders?: string[] | undefined
  /** The connection. */
  socket?: RequestSocket | undefined
  /** Of HTTP/2 only. */
  stream?: RequestStream | undefined
}

/** The part of the socket below a request that is used. */
export interface RequestSocket {
  /** Whether the connection has ended. */
  readonly destroyed: boolean
  /** Stops reading. */
  pause(): unknown
  /** Reads again. */
  resume(): unknown
  /** Ends the connection. */
  destroy(): unknown
  /** Calls `listener` when the connection has ended. */
  once(event: 'close', listener: () => void): unknown
}

/** The part of a stream of HTTP/2 that is used. */
export interface RequestStream {
  /** The connection. */
  readonly session?: object | undefined
  /** Whether the stream has ended. */
  readonly destroyed: boolean
  /** Ends the stream with an error code of HTTP/2. */
  close(code: number): unknown
}

/** The part of Node's `ServerResponse`, of HTTP/1 or HTTP/2, that is written to. */
export interface NodeResponse {
  /** Sets status and headers; `headers` has names and values in turn. */
  writeHead(status: number, headers: string[]): unknown
  /** Sends them and the whole body. */
  end(body?: Uint8Array | string): unknown
  /** Ends the connection where there is no answer to send. */
  destroy(): unknown
  /**
   * `close` comes when the answer is sent, or when the client has left before; `socket`, in HTTP/1, when the answers to all
   * earlier requests of the connection are sent.
   */
  once(event: 'close' | 'socket', listener: () => void): unknown
  /** Calls `listener` after `ms` without a byte read or written. */
  setTimeout?(ms: number, listener: () => void): unknown
  /** Null in HTTP/1 until the answers to all earlier requests of the connection are sent. */
  readonly socket?: ResponseSocket | null | undefined
  /** Bytes that the system has not accepted yet. */
  readonly writableLength?: number | undefined
  /** Whether the system has accepted everything. */
  readonly writableFinished?: boolean | undefined
  /** Whether the client has left. */
  readonly destroyed?: boolean | undefined
}

/** The part of the socket below a response that is used. */
export interface ResponseSocket {
  /** How long it may be idle, in ms; 0 or absent for no limit. */
  readonly timeout?: number | undefined
  /** Sets that time. */
  setTimeout(ms: number): unknown
}
