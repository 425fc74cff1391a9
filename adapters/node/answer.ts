import type { Answer, AnswerRequest } from '../../src/index.ts'

/** The part of Node's `IncomingMessage`, of HTTP/1 or HTTP/2, that is read. */
export interface NodeRequest {
  method?: string | undefined
  url?: string | undefined
  headers: { [name: string]: string | string[] | undefined; host?: string | undefined }
}

/** The part of Node's `ServerResponse`, of HTTP/1 or HTTP/2, that is written to. */
export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body?: string | Uint8Array): unknown
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
}

/** What an answer depends on. `signal`, which is made for whoever asks for it, aborts when the client has left. */
export function toAnswerRequest(
  { method = 'GET', url = '/', headers }: NodeRequest,
  response: NodeResponse,
  target: string = url,
): AnswerRequest {
  return {
    method,
    target,
    header: (name) => headers[name]?.toString(),
    get signal() {
      const controller = new AbortController()
      response.once('close', () => controller.abort())
      return controller.signal
    },
  }
}

/** Sends `answer` through `response`. */
export function send({ status, headers, body }: Answer, response: NodeResponse): void {
  response.statusCode = status
  for (const [name, value] of headers) response.setHeader(name, value)
  response.end(body ?? undefined)
}
