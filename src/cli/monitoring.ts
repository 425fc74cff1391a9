import type { RatesHandler } from '../index.ts'
import { createMetrics, withAccessLog, withRequestIds } from '../monitoring/index.ts'
import type { Metrics, WrappedHandler } from '../monitoring/index.ts'
import { readProxies } from './access.ts'
import type { Proxies } from './access.ts'
import type { CommandContext } from './context.ts'
import { readChoice, readPort } from './serve-flags.ts'
import type { ServeFlags } from './serve-flags.ts'
import type { ServedHandler } from './service-paths.ts'
import { UsageError } from './usage.ts'

const LOG_FORMATS = ['json', 'combined'] as const

/** The validated flags about metrics and access logs. */
export interface MonitoringSettings {
  hasMetrics: boolean
  /** The port for metrics alone; undefined to serve them on that of the API. */
  metricsPort: number | undefined
  accessLog: AccessLogSettings | undefined
}

interface AccessLogSettings {
  format: (typeof LOG_FORMATS)[number]
  sample: number | undefined
  addresses: boolean
  proxies: Proxies
  /** Query parameters with keys. */
  queryParameters: readonly string[]
}

/**
 * Validates the flags about metrics and access logs.
 *
 * @throws {UsageError} naming the invalid flag
 */
export function readMonitoring({ access, monitoring }: ServeFlags): MonitoringSettings {
  const { metrics, metricsPort, accessLog, accessLogSample, accessLogAddresses } = monitoring
  if (metrics && metricsPort !== undefined) {
    throw new UsageError('--metrics and --metrics-port cannot be combined; choose one')
  }
  const format = readChoice('--access-log', LOG_FORMATS, accessLog)
  for (const [flag, isSet] of [
    ['--access-log-sample', accessLogSample !== undefined],
    ['--access-log-addresses', accessLogAddresses],
  ] as const) {
    if (isSet && !format) throw new UsageError(`${flag} needs --access-log`)
  }
  const proxies = readProxies(access)
  if (proxies.trustedProxies !== undefined && access.plans.length === 0 && !accessLogAddresses) {
    throw new UsageError('--trusted-proxy needs --anonymous with a plan, or --access-log-addresses')
  }
  return {
    hasMetrics: metrics || metricsPort !== undefined,
    metricsPort: metricsPort === undefined ? undefined : readPort('--metrics-port', metricsPort),
    accessLog: format && {
      format,
      sample: accessLogSample === undefined ? undefined : readShare(accessLogSample),
      addresses: accessLogAddresses,
      proxies,
      queryParameters: access.keyParameters,
    },
  }
}

function readShare(text: string): number {
  const share = /^(?:\d+|\d*\.\d+)$/.test(text) ? Number(text) : NaN
  if (share > 0 && share <= 1) return share
  throw new UsageError(
    `--access-log-sample must be a share above 0 and at most 1, got ${text || '""'}`,
  )
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
  const { proxies, ...options } = accessLog
  const write = (line: string): void => void stdout.write(`${line}\n`)
  return withRequestIds(withAccessLog(handler, { ...options, ...proxies, write, now }))
}
