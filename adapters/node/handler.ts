import type { RawRequest, RawResponse } from '../../src/index.ts'
import type { FetchHandler } from '../server.ts'
import { fromFetchStyle } from './fetch-style.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'
import { limitPipelining } from './pipelining.ts'
import { NodeRawRequest, hasTwoHosts, refuse, send } from './send.ts'

/** A request listener of Node's servers. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => void

/**
 * Creates a request listener for `node:http`, `node:https` or `node:http2`. A handler with `answer()` writes to the socket
 * directly, without a `Request` and a `Response`; any other fetch-style handler works too. If a handler fails, the response
 * is an empty 500; if a response cannot be sent, the connection ends. Clients never see exceptions.
 *
 * Pipelined HTTP/1 requests are handled one after another: the next one starts when the previous response is sent. An HTTP/2
 * connection has at most 8 responses in progress. A client that reads nothing for 30 s is disconnected, unless the server
 * has a `timeout`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createRatesHandler } from 'ratesmith'
 * import { toNodeHandler } from 'ratesmith/node'
 *
 * createServer(toNodeHandler(createRatesHandler())).listen(3000, '127.0.0.1')
 * ```
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
