import type { IncomingMessage, ServerResponse } from 'node:http'

import { responseOf } from '../raw-response.ts'
import type { FetchHandler } from '../server.ts'
import type { NodeRequest, NodeResponse } from './messages.ts'
import { setStallTimeout } from './send.ts'

/** Creates a Node listener from any fetch-style handler, with a `Request` and a `Response`. */
export function fromFetchStyle(
  handler: FetchHandler,
): (request: NodeRequest, response: NodeResponse) => void {
  const loading = loadAdapter(handler)
  // Each request handles the rejection instead.
  loading.catch(() => undefined)
  return (request, response) => {
    // `Request` supports neither method, and TRACE must not echo the request.
    if (request.method === 'TRACE' || request.method === 'CONNECT') {
      response.writeHead(405, ['cache-control', 'no-store'])
      response.end()
      return
    }
    // The URL is built from Host and target; neither may change the other's part.
    if (!/^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(request.headers.host ?? '')) {
      request.headers.host = 'localhost'
    }
    request.url = request.url?.replace(/^https?:[/\\]*[^/\\?#]*/i, '') ?? '/'
    loading.then((handle) => handle(request, response)).catch(() => response.destroy())
  }
}

interface NodeContext {
  res: NodeResponse
}

/** Loaded on demand, because it is larger than the rest of this package and most handlers do not need it. */
async function loadAdapter(
  handler: FetchHandler,
): Promise<(request: NodeRequest, response: NodeResponse) => Promise<void>> {
  const { createServerAdapter } = await import('@whatwg-node/server')
  const adapter = createServerAdapter<NodeContext>(
    async (request: Request, { res }: NodeContext) => {
      const response = await responseOf(handler, request)
      // Later, because the adapter clears the socket's timeout when it starts to send.
      setImmediate(setStallTimeout, res)
      return response
    },
  )
  return (request, response) =>
    adapter.handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
}
