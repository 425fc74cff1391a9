import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

/** The time of all requests: a Friday evening, after both publications. */
const NOW = Date.UTC(2026, 10, 20, 18)

/** Creates a handler of the built package with the same responses in every process. */
export function createConformanceHandler(basePath: string): RatesHandler {
  const now = (): number => NOW
  const quotes = { secrets: ['the same secret in every process'] }
  return createRatesHandler({ basePath, now, quotes, providers: fakeProviders({ seed: 1, now }) })
}
