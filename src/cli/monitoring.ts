import type { RatesHandler } from '../index.ts'
import { createMetrics, withAccessLog, withRequestIds } from '../monitoring/index.ts'
import type { Metrics, WrappedHandler } from '../monitoring/index.ts'
import { readProxies } from './access.ts'
import type { CommandContext } from './context.ts'
import { readChoice, readPort } from './serve-flags.ts'
import type { ServeFlags } from './serve-flags.ts'
import type { ServedHandler } from './service-paths.ts'
import { UsageError } from './usage.ts'

const LOG_FORMATS = ['json'] as const

/** The validated flags about metrics and access logs. */
export interface MonitoringSettings {
  hasMetrics: boolean
  /** The port for metrics alone; undefined to serve them on that of the API. */
  metricsPort: number | undefined
  /** `queryParameters` are those with keys. */
  accessLog: { queryParameters: readonly string[] } | undefined
}

/**
 * Validates the flags about metrics and access logs.
 *
 * @throws {UsageError} naming the invalid flag
 */
export function readMonitoring({ access, monitoring }: ServeFlags): MonitoringSettings {
  const { metrics, metricsPort, accessLog } = monitoring
  if (metrics && metricsPort !== undefined) {
    throw new UsageError('--metrics and --metrics-port cannot be combined; choose one')
  }
  const format = readChoice('--access-log', LOG_FORMATS, accessLog)
  if (readProxies(access).trustedProxies !== undefined && access.plans.length === 0) {
    throw new UsageError('--trusted-proxy needs --anonymous with a plan')
  }
  return {
    hasMetrics: metrics || metricsPort !== undefined,
    metricsPort: metricsPort === undefined ? undefined : readPort('--metrics-port', metricsPort),
    accessLog: format && { queryParameters: access.keyParameters },
  }
}

/** Creates the metrics of `handler`, if they are on. */
export function openMetrics(
  handler: RatesHandler,
  { hasMetrics }: MonitoringSettings,
): Metrics | undefined {
  return hasMetrics ? createMetrics(handler) : undefined
}

/** Returns `handler` with request ids and a line on stdout per response, if the access log is on. */
export function withLog(
  handler: ServedHandler,
  { accessLog }: MonitoringSettings,
  { stdout, now }: Pick<CommandContext, 'stdout' | 'now'>,
): ServedHandler | WrappedHandler {
  if (!accessLog) return handler
  const write = (line: string): void => void stdout.write(`${line}\n`)
  return withRequestIds(withAccessLog(handler, { ...accessLog, write, now }))
}
