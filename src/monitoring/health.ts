import type { HandlerState, RatesHandler } from '../handler.ts'
import { assertKnownOptions } from '../known-options.ts'

/** Options of `createHealth`. */
export interface HealthOptions {
  /**
   * The data sets that must be loaded before the service is ready (default every enabled one). With `['latest']`, a service
   * is ready while the source of reference rates is down, and returns 502 for history.
   */
  require?: readonly ('latest' | 'history')[] | undefined
}

/** Responses to the probes of an orchestrator or a load balancer: JSON with `no-store`. */
export interface Health {
  /** Returns 200 while the process runs. Never depends on upstreams: a restart would not repair them. */
  live(): Response
  /**
   * Returns 200 once rates are loaded and until `drain()`; else 503 with `Retry-After`. Starts loading rates in the background
   * where a load is due, so that a service becomes ready without traffic.
   */
  ready(): Response
  /** Makes the service not ready from now on: call it on SIGTERM, some seconds before the server stops. */
  drain(): void
}

const RETRY_AFTER_SECONDS = '5'

/**
 * Creates the responses to liveness and readiness probes.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createHealth } from 'ratesmith/monitoring'
 *
 * const health = createHealth(createRatesHandler())
 * const { status } = health.ready()
 * process.once('SIGTERM', () => health.drain())
 * ```
 */
export function createHealth(
  handler: Pick<RatesHandler, 'inspect' | 'refresh'>,
  options: HealthOptions = {},
): Health {
  const { require = ['latest', 'history'] } = options
  assertKnownOptions(options, { require })
  assertDataSets(require)
  let isDraining = false
  let isLoading = false

  /** Backoff after failures is that of the handler. */
  function load(): void {
    if (isLoading) return
    isLoading = true
    const end = (): void => void (isLoading = false)
    handler.refresh().then(end, end)
  }

  return {
    live: () => respond(200, { status: 'alive' }),
    ready() {
      const { status } = handler.inspect()
      const required = require.map((name) => status[name]).filter((state) => state !== null)
      const isReady = required.every(({ ready }) => ready)
      if (!isReady && !isDraining) load()
      const state = isReady ? 'ready' : 'loading'
      const about = { status: isDraining ? 'draining' : state, ...describe(status) }
      return respond(isReady && !isDraining ? 200 : 503, about)
    },
    drain: () => void (isDraining = true),
  }
}

function assertDataSets(names: readonly string[]): void {
  const isValid =
    Array.isArray(names) &&
    names.length > 0 &&
    names.every((name) => name === 'latest' || name === 'history')
  if (!isValid) throw new TypeError("require must be a non-empty array of 'latest' and 'history'")
}

function describe({ latest, history }: HandlerState['status']): Record<string, string> {
  const stateOf = (state: typeof latest | typeof history): string =>
    state === null ? 'disabled' : state.ready ? 'ready' : 'loading'
  return { latest: stateOf(latest), history: stateOf(history) }
}

function respond(status: number, record: object): Response {
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  return Response.json(record, {
    status,
    headers: status === 503 ? { ...headers, 'retry-after': RETRY_AFTER_SECONDS } : headers,
  })
}
