import { assertKnownOptions, assertOneOf } from '../core.ts'
import type { RatesHandler } from '../index.ts'

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
  const isList: boolean = Array.isArray(require) && require.length > 0
  if (!isList) throw new TypeError("require must be a non-empty array of 'latest' and 'history'")
  for (const name of require) assertOneOf('require', name, ['latest', 'history'])
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
      const { latest, history } = handler.inspect().status
      const states = { latest: stateOf(latest), history: stateOf(history) }
      const isReady = require.every((name) => states[name] !== 'loading')
      if (isDraining) return respond(503, { status: 'draining', ...states })
      if (!isReady) load()
      return respond(isReady ? 200 : 503, { status: isReady ? 'ready' : 'loading', ...states })
    },
    drain: () => void (isDraining = true),
  }
}

function stateOf(state: { ready: boolean } | null): string {
  return state === null ? 'disabled' : state.ready ? 'ready' : 'loading'
}

function respond(status: number, record: object): Response {
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  const retry = status === 503 ? { 'retry-after': '5' } : {}
  return Response.json(record, { status, headers: { ...headers, ...retry } })
}
