import type { IncomingMessage, ServerResponse } from 'node:http'

import { createServerAdapter } from '@whatwg-node/server'

/** The part of Node's `IncomingMessage` that is asked for. */
export interface NodeRequest {
  method?: string | undefined
  url?: string | undefined
  headers: { host?: string | undefined }
}

/** The part of Node's `ServerResponse` that is asked for. */
export interface NodeResponse {
  writeHead(status: number): unknown
  end(): unknown
  destroy(): unknown
}

/**
 * Lets a fetch-style handler answer Node's requests: `http.createServer(toNodeHandler(handler))`. Should the handler
 * fail, the answer is an empty 500; what it threw reaches no client.
 */
export function toNodeHandler(
  handler: (request: Request) => Promise<Response>,
): (request: NodeRequest, response: NodeResponse) => void {
  const adapter = createServerAdapter(async (request: Request) => {
    try {
      return await handler(request)
    } catch {
      return new Response(null, { status: 500, headers: { 'cache-control': 'no-store' } })
    }
  })
  return (request, response) => {
    // The URL is put together from both: neither may reach into the other's part of it.
    if (!/^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(request.headers.host ?? '')) {
      request.headers.host = 'localhost'
    }
    request.url = request.url?.replace(/^https?:[/\\]*[^/\\?#]*/i, '') ?? '/'
    adapter
      .handle(request as IncomingMessage, response as ServerResponse)
      .catch(() => response.destroy())
  }
}
