/** The part of Node's `IncomingMessage`, of HTTP/1 or HTTP/2, that is read. */
export interface NodeRequest {
  /** `GET` where absent. */
  method?: string | undefined
  /** Path and query as they came; `/` where absent. */
  url?: string | undefined
  /** By lower-case name. */
  headers: { [name: string]: string | string[] | undefined; host?: string | undefined }
}

/** The part of Node's `ServerResponse`, of HTTP/1 or HTTP/2, that is written to. */
export interface NodeResponse {
  /** Sets status and headers; `headers` has names and values in turn. */
  writeHead(status: number, headers: string[]): unknown
  /** Sends them and the whole body. */
  end(body?: Uint8Array | string): unknown
  /** Ends the connection where there is no answer to send. */
  destroy(): unknown
  /** `close` comes when the answer is sent, or when the client has left before. */
  once(event: 'close', listener: () => void): unknown
}
