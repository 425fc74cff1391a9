import { withProperties } from '../core.ts'
import type { Header, RawRequest, RawResponse } from '../index.ts'
import { assertAnswers, wrap } from './wrap.ts'
import type { AnsweringHandler, WrappedHandler } from './wrap.ts'

/** Not an API key, which must not get into a log. */
const WELL_FORMED = /^(?!.*rsk_)[a-z0-9._-]{1,128}$/i

/**
 * Returns `handler` with an id for every request: the `X-Request-Id` of the request if it has 1 to 128 of the characters
 * `A-Z a-z 0-9 . _ -` and does not contain an API key, else a random UUID. Access logs and `internal_error` events contain it.
 * Responses that shared caches may not keep (`no-store` or `private`) have it as `X-Request-Id`; all others are unchanged.
 *
 * @throws {TypeError} if `handler` has no `answer()`
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { withRequestIds } from 'ratesmith/monitoring'
 *
 * const handler = withRequestIds(createRatesHandler())
 * ```
 */
export function withRequestIds<Handler extends AnsweringHandler>(
  handler: Handler,
): Handler & WrappedHandler {
  assertAnswers(handler)
  return wrap(handler, async (request) => {
    const requestId = request.requestId ?? receivedId(request) ?? globalThis.crypto.randomUUID()
    return withId(await handler.answer(withProperties(request, { requestId })), requestId)
  })
}

function receivedId(request: RawRequest): string | undefined {
  try {
    const id = request.header('x-request-id')
    return id && WELL_FORMED.test(id) ? id : undefined
  } catch {
    // The handler responds to unreadable requests.
    return undefined
  }
}

function withId(response: RawResponse, requestId: string): RawResponse {
  const { headers, matched } = response
  const isPresent = headers.some(([name]) => name === 'x-request-id')
  const isPrivate = headers.some(
    ([name, value]) => name === 'cache-control' && /\b(no-store|private)\b/.test(value),
  )
  if (!matched || isPresent || !isPrivate) return response
  const exposed = headers.map(([name, value]): Header =>
    name === 'access-control-expose-headers' ? [name, `${value}, X-Request-Id`] : [name, value],
  )
  return { ...response, headers: [...exposed, ['x-request-id', requestId]] }
}
