import {
  NodeRawRequest,
  createSender,
  hasTwoHosts,
  limitConnections,
  respondWith,
} from './node-handler.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import { refuse } from './node-send.ts'
import type { Answer } from './server.ts'

/** The used part of a `Request` of Express or Connect. */
export interface ExpressRequest extends NodeRequest {
  /** The request target before the app removed the prefix of a mount. */
  originalUrl?: string | undefined
}

/**
 * Creates Express 4 or 5 middleware from a handler, for the root or for a prefix with which the handler's base path starts.
 * Calls `next()` for all paths that are not the handler's.
 *
 * Pipelined requests of a connection are handled one after another, also by the middleware after this one: the next request
 * starts when the previous response is sent.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { createRatesHandler } from 'ratesmith'
 * import { toExpressHandler } from 'ratesmith/express'
 *
 * const app = express()
 * app.use(toExpressHandler(createRatesHandler()))
 * app.listen(3000)
 * ```
 */
export function toExpressHandler(handler: {
  answer: Answer
}): (request: ExpressRequest, response: NodeResponse, next: () => void) => void {
  const answer: Answer = (request) => handler.answer(request)
  const { send, unsentBytes } = createSender()
  return limitConnections<ExpressRequest>((request, response, next) => {
    const { originalUrl } = request
    const rawRequest = new ExpressRawRequest(request, response, unsentBytes, originalUrl)
    respondWith(answer, rawRequest, response, (raw) => {
      if (!raw.matched) next?.()
      else if (hasTwoHosts(request)) refuse(response)
      else send(raw, response)
    })
  })
}

/** A request of Express. Reads `request.headers`, which middleware before it may have changed. */
class ExpressRawRequest extends NodeRawRequest {
  override header(name: string): string | undefined {
    return this.request.headers[name]?.toString()
  }

  protected override headerNames(): string[] {
    return Object.keys(this.request.headers)
  }
}
