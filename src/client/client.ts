import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { ConversionQuestion, ConversionRecord } from '../records/conversion.ts'
import type { CurrenciesRecord } from '../records/currencies.ts'
import type { HistoryQuestion, HistoryRecord } from '../records/history.ts'
import type { LatestQuestion, LatestRecord } from '../records/latest.ts'
import { systemRuntime } from '../runtime.ts'
import type { Runtime } from '../runtime.ts'
import { requireBaseUrl } from './base-url.ts'
import { createCall } from './call.ts'
import { createExchange } from './exchange.ts'
import type { CallOptions, RatesOf } from './questions.ts'

/** Options of `createRatesClient`. */
export interface RatesClientOptions {
  /** Where the handler is mounted, with its base path: `https://app.example/api`, or in a browser `/api`. */
  baseUrl: string
  /** Answers every request; a handler will do (default `globalThis.fetch`, looked up at each call). */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** How often a question is asked again that is answered with 502 (default 2). */
  retries?: number | undefined
}

/** The operations of `/api/v1`. Each resolves to a record that is the caller's own, or rejects with a `RatesError`. */
export interface RatesClient {
  /** Latest rates against a base; `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    question?: LatestQuestion<Symbols> & CallOptions,
  ): Promise<LatestRecord<RatesOf<Symbols>>>
  /** An amount of one currency in another. */
  convert(question: ConversionQuestion & CallOptions): Promise<ConversionRecord>
  /** Daily reference rates of a pair. */
  history(question: HistoryQuestion & CallOptions): Promise<HistoryRecord>
  /** The currencies, and where there are rates for them. */
  currencies(options?: CallOptions): Promise<CurrenciesRecord>
}

/**
 * A client of a handler that is mounted somewhere, for whatever has `fetch`.
 *
 * @throws {TypeError} naming the option that cannot be used
 */
export function createRatesClient(options: RatesClientOptions): RatesClient {
  return createClientOn(systemRuntime(Date.now), options)
}

/** A client on `runtime`. */
export function createClientOn(
  { now, startTimer }: Pick<Runtime, 'now' | 'startTimer'>,
  { baseUrl, fetch = (request) => globalThis.fetch(request), retries = 2 }: RatesClientOptions,
): RatesClient {
  const root = requireBaseUrl(baseUrl)
  if (typeof fetch !== 'function') throw new TypeError('fetch must be a function')
  if (!(retries >= 0)) throw new TypeError(`retries must be a number >= 0, got ${retries}`)
  const call = createCall({ root, exchange: createExchange(fetch, now), retries, startTimer })

  return {
    latest({ base, symbols, signal } = {}) {
      // An empty list asks for all, as none does.
      const query = { base, symbols: symbols?.join() || undefined }
      return call({ endpoint: 'latest', query, mark: 'rates', signal })
    },
    convert: ({ from, to, amount, signal }) =>
      call({ endpoint: 'convert', query: { from, to, amount }, mark: 'result', signal }),
    history: ({ from, to, period, signal }) =>
      call({ endpoint: 'history', query: { from, to, period }, mark: 'points', signal }),
    currencies: ({ signal } = {}) => call({ endpoint: 'currencies', mark: 'currencies', signal }),
  }
}
