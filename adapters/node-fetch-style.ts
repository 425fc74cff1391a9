import type { IncomingMessage, ServerResponse } from 'node:http'

import { loadOnce } from '../src/async.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import { setStallTimeout } from './node-send.ts'
import { toServerFunction } from './server.ts'
import type { FetchHandler } from './server.ts'

export function fromFetchStyle(
  handler: FetchHandler,
): (request: NodeRequest, response: NodeResponse) => void {
  const load = loadOnce(async () => loadAdapter(handler))
  // Each request handles the rejection instead.
  load().catch(() => undefined)
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
    load()
      .then((handle) => handle(request, response))
      .catch(() => response.destroy())
  }
}

interface NodeContext {
  req: NodeRequest
  res: NodeResponse
}

/** Loaded on demand, because it is larger than the rest of this package and most handlers do not need it. */
async function loadAdapter(
  handler: FetchHandler,
): Promise<(request: NodeRequest, response: NodeResponse) => Promise<void>> {
  const { createServerAdapter } = await import('@whatwg-node/server')
  const respond = toServerFunction(handler)
  const adapter = createServerAdapter<NodeContext>(
    async (request: Request, { req: { socket }, res }: NodeContext) => {
      const response = await respond(request, { client: socket?.remoteAddress })
      // Later, because the adapter clears the socket's timeout when it starts to send.
      setImmediate(setStallTimeout, res)
      return response
    },
  )
  return (request, response) =>
    adapter.handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
}
