import type { RawResponse, RawRequest } from '../src/index.ts'
import { NodeRawRequest, hasTwoHosts, refuse, send } from './node/send.ts'
import type { NodeRequest, NodeResponse } from './node/messages.ts'
import { limitPipelining } from './node/pipelining.ts'

/** The part of Express's `Request` that is read; also of Connect's. */
export interface ExpressRequest extends NodeRequest {
  /** The target before the app took the prefix of a mount away. */
  originalUrl?: string | undefined
}

/**
 * Mounts a handler in Express 4 or 5, at the root or below a prefix, which the handler's base path starts with:
 * `app.use(toExpressHandler(handler))`. Requests for anything else than its own paths go on to the app.
 *
 * Requests that a client sends without waiting reach the handler, and what comes after it in the app, one after another:
 * the next one when the response before it has been sent.
 */
export function toExpressHandler(handler: {
  answer(request: RawRequest): Promise<RawResponse>
}): (request: ExpressRequest, response: NodeResponse, next: () => void) => void {
  async function respond(
    request: ExpressRequest,
    response: NodeResponse,
    next?: () => void,
  ): Promise<void> {
    try {
      const { originalUrl } = request
      const answer = await handler.answer(new NodeRawRequest(request, response, originalUrl))
      if (!answer.matched) next?.()
      else if (hasTwoHosts(request)) refuse(response)
      else send(answer, response)
    } catch {
      response.destroy()
    }
  }
  return limitPipelining<ExpressRequest>((request, response, next) => {
    void respond(request, response, next)
  })
}
