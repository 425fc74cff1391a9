import { toFetchStyle } from '../core.ts'
import type { ProxyOptions } from '../core.ts'
import type { RawRequest, RawResponse } from '../index.ts'

/** A handler in any form: of `createRatesHandler`, or a wrapper around it. */
export interface AnsweringHandler {
  /** Returns the response as data, in a promise only if it has to wait; never throws or rejects. */
  answer(request: RawRequest): RawResponse | Promise<RawResponse>
  /** Query parameters for keys, besides `access_key`, `access_token`, `api_key`, `apikey`, `app_id`, `key` and `token`. */
  readonly keyRules?: { readonly queryParameters: readonly string[] } | undefined
  readonly proxies?: ProxyOptions | undefined
}

/** What every wrapper has, besides the members of the wrapped handler. */
export interface WrappedHandler extends AnsweringHandler {
  (request: Request): Promise<Response>
  /** The handler itself, for hosts that take `{ fetch }`; reads the client's address from a second argument. */
  readonly fetch: (request: Request) => Promise<Response>
}

export function wrap<Handler extends AnsweringHandler>(
  handler: Handler,
  answer: AnsweringHandler['answer'],
): Handler & WrappedHandler {
  const handle = toFetchStyle(answer)
  return Object.assign(handle, { ...handler, fetch: handle, answer })
}

/** @throws {TypeError} if it has no `answer()` */
export function assertAnswers(handler: AnsweringHandler): void {
  const given: Partial<AnsweringHandler> | null | undefined = handler
  if (typeof given?.answer === 'function') return
  throw new TypeError('handler must have answer(), like the result of createRatesHandler()')
}
