import type { ResponseCaches } from '../http/response-cache.ts'
import type { QuoteEndpoints } from './quotes.ts'
import type { RateSources } from '../sources/rate-sources.ts'

/** What every endpoint needs. */
export interface EndpointContext {
  sources: RateSources
  responseCaches: ResponseCaches
  now: () => number
  /** Undefined without quotes. */
  quotes: (() => Promise<QuoteEndpoints>) | undefined
  /** Names of query parameters that have an API key. */
  keyNames: readonly string[]
}

export type Format = 'json' | 'csv'
