import { assertKnownOptions } from '../../src/known-options.ts'

/** Options of `createUndiciFetch()`. */
export interface UndiciFetchOptions {
  /**
   * Proxy URL, `false` for no proxy, or `'environment'` for `HTTPS_PROXY` and `HTTP_PROXY` except for the hosts in
   * `NO_PROXY`, all in upper or lower case (default `'environment'`).
   */
  proxy?: string | false | undefined
  /** Limit of connections per origin (default unlimited). */
  connections?: number | undefined
  /** Timeout of each step in ms; 0 for none (default 10,000 each). */
  timeouts?: { connect?: number; headers?: number; body?: number } | undefined
  /** An undici dispatcher that replaces all other options: a `MockAgent` in tests, or a `RetryAgent`. */
  dispatcher?: { dispatch(options: object, handler: object): boolean } | undefined
}

/** Options of undici's agents. */
export interface AgentSettings {
  connections: number | null
  connectTimeout: number
  headersTimeout: number
  bodyTimeout: number
}

/** @throws {TypeError} naming the invalid option */
export function toAgentSettings(options: UndiciFetchOptions): AgentSettings {
  const { proxy, connections, timeouts = {}, dispatcher } = options
  assertKnownOptions(options, { proxy, connections, timeouts, dispatcher })
  if (dispatcher && (proxy ?? connections ?? options.timeouts) !== undefined) {
    throw new TypeError('dispatcher cannot be combined with proxy, connections or timeouts')
  }
  if (dispatcher && !('dispatch' in dispatcher))
    throw new TypeError('dispatcher must have a method dispatch')
  const { connect = 10_000, headers = 10_000, body = 10_000 } = timeouts
  assertKnownOptions(timeouts, { connect, headers, body }, 'timeouts')
  requireWhole('connections', connections ?? 1, 1)
  requireWhole('timeouts.connect', connect, 0)
  requireWhole('timeouts.headers', headers, 0)
  requireWhole('timeouts.body', body, 0)
  const limits = { connectTimeout: connect, headersTimeout: headers, bodyTimeout: body }
  return { connections: connections ?? null, ...limits }
}

function requireWhole(name: string, value: unknown, min: number): void {
  if (Number.isSafeInteger(value) && Number(value) >= min) return
  throw new TypeError(`${name} must be an integer of at least ${min}, got ${String(value)}`)
}
