import type { RatesHandler } from '../handler.ts'

/** Metrics of a handler. */
export interface Metrics {
  /** Returns the metrics as OpenMetrics text. */
  text(): string
}

/** Creates metrics of `handler`. */
export function createMetrics(handler: RatesHandler): Metrics {
  throw new Error(`not implemented: ${typeof handler}`)
}
