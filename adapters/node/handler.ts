import type { Answer, AnswerRequest } from '../../src/index.ts'
import type { FetchHandler } from '../server.ts'
import { NodeAnswerRequest, send } from './answer.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'
import { fromFetchStyle } from './fetch-style.ts'

/**
 * Lets a handler answer Node's requests: `createServer(toNodeHandler(handler))` of `node:http`, `node:https` or
 * `node:http2`. One with `answer()` writes to the socket itself, without a `Request` and a `Response`; any other
 * fetch-style handler will do too. Should such a one fail, the answer is an empty 500; where an answer cannot be sent, the
 * connection ends. What was thrown reaches no client.
 */
export function toNodeHandler(
  handler: FetchHandler & { answer?: (request: AnswerRequest) => Promise<Answer> },
): (request: NodeRequest, response: NodeResponse) => void {
  const { answer } = handler
  return answer ? fromAnswers(answer) : fromFetchStyle(handler)
}

function fromAnswers(
  answer: (request: AnswerRequest) => Promise<Answer>,
): (request: NodeRequest, response: NodeResponse) => void {
  async function respond(request: NodeRequest, response: NodeResponse): Promise<void> {
    try {
      send(await answer(new NodeAnswerRequest(request, response)), response)
    } catch {
      response.destroy()
    }
  }
  return (request, response) => void respond(request, response)
}
