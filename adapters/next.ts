import { responderOf } from './server.ts'
import type { FetchHandler } from './server.ts'

export type { FetchHandler } from './server.ts'

/** A function that Next.js calls for the requests of one method. */
export type NextFunction = (request: Request) => Promise<Response>

/** The functions of a route handler, by method. */
export type NextHandler = Record<
  'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS',
  NextFunction
>

/**
 * Creates the functions of a Next.js route handler, one for each method, for `app/api/[...path]/route.ts`. A handler that
 * fails gets an empty 500.
 *
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { toNextHandler } from 'ratesmith/next'
 *
 * export const dynamic = 'force-dynamic'
 * export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = toNextHandler(createRatesHandler())
 * ```
 */
export function toNextHandler(handler: FetchHandler): NextHandler {
  const respond = responderOf(handler)
  // Without the second argument of Next.js, which has parts of the path and never an address.
  const next: NextFunction = async (request) => respond(request, undefined)
  return { GET: next, HEAD: next, POST: next, PUT: next, PATCH: next, DELETE: next, OPTIONS: next }
}
