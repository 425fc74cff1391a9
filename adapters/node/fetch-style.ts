import type { IncomingMessage, ServerResponse } from 'node:http'

import { answerOf } from '../raw-response.ts'
import type { FetchHandler } from '../server.ts'
import { setStallTimeout } from './send.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'

/** Lets any fetch-style handler answer Node's requests, by way of a `Request` and a `Response`. */
export function fromFetchStyle(
  handler: FetchHandler,
): (request: NodeRequest, response: NodeResponse) => void {
  const loading = loadAdapter(handler)
  // Told to each request instead.
  loading.catch(() => undefined)
  return (request, response) => {
    // A `Request` can be neither of them, and nothing is to be echoed.
    if (request.method === 'TRACE' || request.method === 'CONNECT') {
      response.writeHead(405, ['cache-control', 'no-store'])
      response.end()
      return
    }
    // The URL is put together from both: neither may reach into the other's part of it.
    if (!/^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(request.headers.host ?? '')) {
      request.headers.host = 'localhost'
    }
    request.url = request.url?.replace(/^https?:[/\\]*[^/\\?#]*/i, '') ?? '/'
    loading.then((handle) => handle(request, response)).catch(() => response.destroy())
  }
}

/** What the adapter passes on of Node's. */
interface NodeContext {
  res: NodeResponse
}

/** The adapter is larger than all the rest, and most handlers do without: it is loaded for those that need it. */
async function loadAdapter(
  handler: FetchHandler,
): Promise<(request: NodeRequest, response: NodeResponse) => Promise<void>> {
  const { createServerAdapter } = await import('@whatwg-node/server')
  const adapter = createServerAdapter<NodeContext>(
    async (request: Request, { res }: NodeContext) => {
      const response = await answerOf(handler, request)
      // Later: when it begins to send, the adapter itself removes the limit of the socket.
      setImmediate(setStallTimeout, res)
      return response
    },
  )
  return (request, response) =>
    adapter.handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
}
