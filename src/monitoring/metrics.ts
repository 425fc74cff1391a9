import type { RatesHandler } from '../handler.ts'
import { assertKnownOptions } from '../known-options.ts'

/** Options of `createMetrics`. */
export interface MetricsOptions {
  /**
   * Whether to include CPU time, memory and start time of the process (`process_…`), where the runtime has them (default
   * true). Turn it off if the process exports them elsewhere.
   */
  process?: boolean | undefined
}

/** Metrics of a handler. */
export interface Metrics {
  /** Returns the current metrics as OpenMetrics 1.0 text. */
  text(): string
  /** Returns the text to `GET` and `HEAD`, and 405 to other methods; ignores the path. */
  readonly fetch: (request: Request) => Response
  /** Stops counting. */
  close(): void
}

/**
 * Creates metrics of `handler`, which count from now on. Labels contain no key, no client address and no query.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createMetrics } from 'ratesmith/monitoring'
 *
 * const metrics = createMetrics(createRatesHandler())
 * const response = metrics.fetch(new Request('http://localhost/metrics'))
 * ```
 */
export function createMetrics(
  handler: Pick<RatesHandler, 'subscribe' | 'inspect'>,
  options: MetricsOptions = {},
): Metrics {
  const { process = true } = options
  assertKnownOptions(options, { process })
  throw new Error(`not implemented: ${typeof handler}`)
}
