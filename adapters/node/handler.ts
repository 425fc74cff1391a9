import type { RawResponse, RawRequest } from '../../src/index.ts'
import type { FetchHandler } from '../server.ts'
import { NodeRawRequest, hasTwoHosts, refuse, send } from './send.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'
import { fromFetchStyle } from './fetch-style.ts'
import { limitPipelining } from './pipelining.ts'

/** Answers Node's requests. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => void

/**
 * Lets a handler answer Node's requests: `createServer(toNodeHandler(handler))` of `node:http`, `node:https` or
 * `node:http2`. One with `answer()` writes to the socket itself, without a `Request` and a `Response`; any other
 * fetch-style handler will do too. Should such a one fail, the answer is an empty 500; where an answer cannot be sent, the
 * connection ends. What was thrown reaches no client.
 *
 * Requests that a client sends without waiting are answered one after another: the next one starts when the response
 * before it has been sent. An HTTP/2 connection has up to 8 responses under way. A client that reads nothing for 30
 * seconds is disconnected, unless the server has a `timeout`.
 */
export function toNodeHandler(
  handler: FetchHandler & { answer?: (request: RawRequest) => Promise<RawResponse> },
): NodeHandler {
  const { answer } = handler
  const respond = answer ? fromRawResponses(answer) : fromFetchStyle(handler)
  return limitPipelining((request, response) => {
    if (hasTwoHosts(request)) refuse(response)
    else respond(request, response)
  })
}

function fromRawResponses(answer: (request: RawRequest) => Promise<RawResponse>): NodeHandler {
  async function respond(request: NodeRequest, response: NodeResponse): Promise<void> {
    try {
      send(await answer(new NodeRawRequest(request, response)), response)
    } catch {
      response.destroy()
    }
  }
  return (request, response) => void respond(request, response)
}
