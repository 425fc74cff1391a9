import { assertKnownOptions } from '../../src/known-options.ts'

/** Options of `createUndiciFetch`; all of them may be left out. */
export interface UndiciFetchOptions {
  /**
   * Which proxy calls go through: its URL, `false` for none, or `'environment'` for those that `HTTPS_PROXY` and
   * `HTTP_PROXY` name, but for the hosts in `NO_PROXY` (in capitals or not; default `'environment'`).
   */
  proxy?: string | false | undefined
  /** Most connections to one origin at a time (default any number). */
  connections?: number | undefined
  /** How long each step may take, in ms; 0 is for ever (default 10,000 each). */
  timeouts?: { connect?: number; headers?: number; body?: number } | undefined
  /** A dispatcher of undici's in place of all the above: a `MockAgent` in tests, or one that retries. */
  dispatcher?: { dispatch(options: object, handler: object): boolean } | undefined
}

/** What undici's own agents take. */
export interface AgentSettings {
  connections: number | null
  connectTimeout: number
  headersTimeout: number
  bodyTimeout: number
}

/** @throws {TypeError} naming the option that cannot be used */
export function toAgentSettings(options: UndiciFetchOptions): AgentSettings {
  const { proxy, connections, timeouts = {}, dispatcher } = options
  assertKnownOptions(options, { proxy, connections, timeouts, dispatcher })
  if (dispatcher && (proxy ?? connections ?? options.timeouts) !== undefined) {
    throw new TypeError('dispatcher must stand alone: it has a proxy and limits of its own')
  }
  if (dispatcher && !('dispatch' in dispatcher))
    throw new TypeError('dispatcher must have dispatch()')
  const { connect = 10_000, headers = 10_000, body = 10_000 } = timeouts
  assertKnownOptions(timeouts, { connect, headers, body }, 'timeouts')
  requireWhole('connections', connections ?? 1, 1)
  requireWhole('timeouts.connect', connect, 0)
  requireWhole('timeouts.headers', headers, 0)
  requireWhole('timeouts.body', body, 0)
  const limits = { connectTimeout: connect, headersTimeout: headers, bodyTimeout: body }
  return { connections: connections ?? null, ...limits }
}

function requireWhole(name: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && Number(value) >= least) return
  throw new TypeError(`${name} must be a whole number, ${least} or more, got ${String(value)}`)
}
