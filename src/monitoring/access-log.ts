import { assertKnownOptions } from '../known-options.ts'
import { assertAnswers, wrap } from './wrap.ts'
import type { AnsweringHandler, WrappedHandler } from './wrap.ts'

/** Options of `withAccessLog`. */
export interface AccessLogOptions {
  /** Receives each line, without a line break; exceptions are ignored. */
  write: (line: string) => void
  /**
   * `'json'` for one JSON object per line, `'combined'` for the combined format of Apache and nginx (default `'json'`).
   */
  format?: 'json' | 'combined' | undefined
  /** The share of responses to log, above 0 and at most 1: 0.1 logs every tenth one (default 1). */
  sample?: number | undefined
  /** Whether lines contain the address of the client (default false: it is personal data). */
  addresses?: boolean | undefined
  /** The proxies whose forwarding headers are read for the address, as in `createAccess` (default none). */
  trustedProxies?: readonly string[] | number | undefined
  /**
   * Query parameters whose values are redacted, in addition to `access_key`, `access_token`, `api_key`, `apikey`, `app_id`,
   * `key` and `token` (default none). API keys of ratesmith are redacted everywhere.
   */
  queryParameters?: readonly string[] | undefined
  /** The clock, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/**
 * Returns `handler` with one log line per response to a path of the API. Wrap compression with it, not the reverse, to log
 * the status and the bytes that are sent.
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
  const { write, format = 'json', sample = 1, addresses = false } = options
  const { trustedProxies, queryParameters = [], now = Date.now } = options
  const known = { write, format, sample, addresses, trustedProxies, queryParameters, now }
  assertKnownOptions(options, known)
  assertAnswers(handler)
  return wrap(handler, (request) => handler.answer(request))
}
