import {
  assertKnownOptions,
  byteLength,
  callSafely,
  createClientAddress,
  escapeInvisible,
  isStreamed,
  requireFunctions,
  shortened,
  splitTarget,
  systemRuntime,
} from '../core.ts'
import type { RawRequest, RawResponse } from '../index.ts'
import { REDACTED, createRedaction } from './redact.ts'
import { assertAnswers, wrap } from './wrap.ts'
import type { AnsweringHandler, WrappedHandler } from './wrap.ts'

/** Options of `withAccessLog`. */
export interface AccessLogOptions {
  /** Receives each line, a JSON object without a line break; exceptions are ignored. */
  write: (line: string) => void
  /**
   * Whether lines contain the address of the client, behind the `trustedProxies` of the handler (default false: addresses are
   * personal data).
   */
  clients?: boolean | undefined
  /** The clock, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

const MAX_TARGET_LENGTH = 2_048
const MAX_TEXT_LENGTH = 256

/** RFC 9110 §10.1.3 forbids both in `Referer`. */
const USER_OR_FRAGMENT = /(?<=\/\/)[^/?#]+(?=@)|(?<=#).+$/gs

/**
 * Returns `handler` with one log line per response to a path of the API. Keys are redacted in every field. Put the log outside
 * of other wrappers, to log the status and the bytes that are sent.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { withAccessLog, withRequestIds } from 'ratesmith/monitoring'
 *
 * const logged = withAccessLog(createRatesHandler(), { write: (line) => console.log(line) })
 * const handler = withRequestIds(logged)
 * ```
 */
export function withAccessLog<Handler extends AnsweringHandler>(
  handler: Handler,
  options: AccessLogOptions,
): Handler & WrappedHandler {
  assertAnswers(handler)
  const { write, clients = false, now = Date.now }: Partial<AccessLogOptions> = options ?? {}
  assertKnownOptions(options, { write, clients, now })
  requireFunctions({ write, now }, true)
  if (typeof clients !== 'boolean') throw new TypeError('clients must be true or false')
  const { keyRules, proxies } = handler
  const { monotonic } = systemRuntime(now)
  const redact = createRedaction(keyRules?.queryParameters ?? [])
  const clientOf = clients ? createClientAddress({ ...proxies, ipv6Prefix: 128 }) : () => undefined

  function toLine(request: RawRequest, response: RawResponse, duration: number): string {
    const { path, query } = splitTarget(request.target)
    // Cut first: a name precedes its value, and redaction of a long text takes long.
    const shown = (text: string | null | undefined, length = MAX_TEXT_LENGTH) =>
      text ? redact(shortened(text, length)) : undefined
    const entry = {
      time: new Date(now()).toISOString(),
      id: shown(request.requestId),
      client: clientOf(request),
      method: shown(request.method),
      path: shown(path, MAX_TARGET_LENGTH),
      query: shown(query, MAX_TARGET_LENGTH),
      status: response.status,
      bytes: bytesOf(response.body),
      referrer: shown(request.header('referer')?.replace(USER_OR_FRAGMENT, REDACTED)),
      agent: shown(request.header('user-agent')),
      duration: Number(duration.toFixed(3)),
    }
    return escapeInvisible(JSON.stringify(entry))
  }

  return wrap(handler, async (request) => {
    const startedAt = monotonic()
    const response = await handler.answer(request)
    const duration = monotonic() - startedAt
    if (response.matched) callSafely(() => write(toLine(request, response, duration)))
    return response
  })
}

/** Returns null for a body in parts, which are not sent yet. */
function bytesOf(body: RawResponse['body']): number | null {
  if (isStreamed(body)) return null
  return body === null ? 0 : byteLength(body)
}
