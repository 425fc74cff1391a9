import { callSafely, systemRuntime } from '../async.ts'
import { shortened } from '../events.ts'
import type { RawRequest, RawResponse } from '../http/messages.ts'
import { byteLength } from '../http/response.ts'
import { splitTarget } from '../http/target.ts'
import { assertKnownOptions } from '../known-options.ts'
import { escapeInvisible } from '../log.ts'
import { createRedaction } from './redact.ts'
import { assertAnswers, wrap } from './wrap.ts'
import type { AnsweringHandler, WrappedHandler } from './wrap.ts'

/** Options of `withAccessLog`. */
export interface AccessLogOptions {
  /** Receives each line, a JSON object without a line break; exceptions are ignored. */
  write: (line: string) => void
  /**
   * Query parameters whose values are redacted, in addition to `access_key`, `access_token`, `api_key`, `apikey`, `app_id`,
   * `key` and `token` (default none). API keys of ratesmith are redacted everywhere.
   */
  queryParameters?: readonly string[] | undefined
  /** The clock, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

const MAX_TARGET_LENGTH = 2_048

const MAX_HEADER_LENGTH = 256

const MICROSECONDS_PER_MS = 1_000

/**
 * Returns `handler` with one log line per response to a path of the API, without the address of the client. Wrap compression
 * with it, not the reverse, to log the status and the bytes that are sent.
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
  const { write, queryParameters, now } = resolve(options)
  assertAnswers(handler)
  const { monotonic } = systemRuntime(now)
  const redaction = createRedaction(queryParameters)

  function toLine(request: RawRequest, response: RawResponse, duration: number): string {
    const { path, query } = splitTarget(request.target)
    const headerOf = (name: string): string | undefined => {
      const value = request.header(name)
      return value ? shortened(redaction.text(value), MAX_HEADER_LENGTH) : undefined
    }
    const entry = {
      time: new Date(now()).toISOString(),
      id: request.requestId,
      method: shortened(request.method, MAX_HEADER_LENGTH),
      path: shortened(redaction.text(path), MAX_TARGET_LENGTH),
      query: shortened(redaction.query(query), MAX_TARGET_LENGTH) || undefined,
      status: response.status,
      bytes: sentBytes(response),
      referrer: headerOf('referer'),
      agent: headerOf('user-agent'),
      duration: Math.round(duration * MICROSECONDS_PER_MS) / MICROSECONDS_PER_MS,
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

function resolve(options: AccessLogOptions) {
  const given: Partial<AccessLogOptions> = options ?? {}
  const { write, queryParameters = [], now = Date.now } = given
  assertKnownOptions(options, { write, queryParameters, now })
  if (typeof write !== 'function') throw new TypeError('write must be a function')
  if (typeof now !== 'function') throw new TypeError('now must be a function')
  if (!isListOfNames(queryParameters)) {
    throw new TypeError('queryParameters must be an array of strings')
  }
  return { write, queryParameters, now }
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

/** Returns the size of the body, without encoding text again where a header has it. */
function sentBytes({ headers, body }: RawResponse): number {
  if (body === null) return 0
  if (typeof body !== 'string') return body.length
  const [, length] = headers.find(([name]) => name === 'content-length') ?? []
  return length === undefined ? byteLength(body) : Number(length)
}
