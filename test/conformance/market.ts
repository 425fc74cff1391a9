import { createRatesHandler } from 'ratesmith'
import type { RatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

/** The moment at which everything is asked: a Friday evening, after both publications. */
const NOW = Date.UTC(2026, 10, 20, 18)

/** A handler of the built package that says the same in every process. */
export function createConformanceHandler(basePath: string): RatesHandler {
  const now = (): number => NOW
  return createRatesHandler({ basePath, now, providers: fakeProviders({ seed: 1, now }) })
}
