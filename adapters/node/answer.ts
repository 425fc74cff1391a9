import type { Answer, AnswerRequest } from '../../src/index.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'

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
  response.writeHead(status, headers.flat())
  response.end(body ?? undefined)
}
