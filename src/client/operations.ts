import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { RatesOf } from '../records/by-code.ts'
import type { ConversionResult, ConversionListParams } from '../records/conversions.ts'
import type { CurrencyList } from '../records/currencies.ts'
import type { DatedRatesParams, DatedRates } from '../records/dated-latest.ts'
import type { HistoryRangeParams, HistoryRange } from '../records/history-range.ts'
import type { HistoryParams, RateHistory } from '../records/history.ts'
import type { LatestParams, LatestRates } from '../records/latest.ts'
import type { ServiceStatus } from '../records/status.ts'
import type { Call } from './call.ts'
import { writeTarget } from './target.ts'
import type { CallOptions } from './target.ts'

/** The operations of `/api/v1`. Each resolves to a record that is the caller's own, or rejects with a `RatesError`. */
export interface RatesClient {
  /** The reference rates of a day against a base; `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    question: DatedRatesParams<Symbols> & CallOptions,
  ): Promise<DatedRates<RatesOf<Symbols>>>
  /** Latest rates against a base; `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    question?: LatestParams<Symbols> & CallOptions,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  /** An amount of one currency in another, or in several. */
  convert<const Question extends ConversionListParams & CallOptions>(
    question: Question & {
      [Name in Exclude<keyof Question, keyof (ConversionListParams & CallOptions)>]: never
    },
  ): Promise<ConversionResult<Question>>
  /** Reference rates of a pair from one day to another. */
  history(question: HistoryRangeParams & CallOptions): Promise<HistoryRange>
  /** Reference rates of a pair, back from the newest published day. */
  history(question: HistoryParams & CallOptions): Promise<RateHistory>
  /** The currencies, and where there are rates for them. */
  currencies(options?: CallOptions): Promise<CurrencyList>
  /** How fresh the data of the service are. */
  status(options?: CallOptions): Promise<ServiceStatus>
}

/** The operations as questions to `call`; what a question does not know is not sent. */
export function createOperations(call: Call): RatesClient {
  function latest<Symbols extends readonly CurrencyCode[]>(
    question: DatedRatesParams<Symbols> & CallOptions,
  ): Promise<DatedRates<RatesOf<Symbols>>>
  function latest<Symbols extends readonly CurrencyCode[]>(
    question?: LatestParams<Symbols> & CallOptions,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  function latest<Rates>({
    base,
    symbols,
    date,
    signal,
  }: (LatestParams | DatedRatesParams) & CallOptions = {}): Promise<LatestRates<Rates>> {
    // An empty list asks for all, as none does.
    const query = { base, symbols: symbols?.join() || undefined, date }
    return call({ endpoint: 'latest', query, mark: 'rates', signal })
  }

  function convert<Question extends ConversionListParams & CallOptions>(
    question: Question,
  ): Promise<ConversionResult<Question>>
  function convert({
    from,
    to,
    amount,
    date,
    reverse,
    signal,
  }: ConversionListParams & CallOptions): Promise<ConversionResult<ConversionListParams>> {
    const query = { from, to: writeTarget(to), amount, date, reverse }
    const mark = Array.isArray(to) ? 'results' : 'result'
    return call({ endpoint: 'convert', query, mark, signal })
  }

  function history(question: HistoryRangeParams & CallOptions): Promise<HistoryRange>
  function history(question: HistoryParams & CallOptions): Promise<RateHistory>
  function history({
    from,
    to,
    period,
    start,
    end,
    interval,
    signal,
  }: (HistoryParams | HistoryRangeParams) & CallOptions): Promise<RateHistory | HistoryRange> {
    const query = { from, to, period, start, end, interval }
    return call({ endpoint: 'history', query, mark: 'points', signal })
  }

  return {
    latest,
    convert,
    history,
    currencies: ({ signal } = {}) => call({ endpoint: 'currencies', mark: 'currencies', signal }),
    status: ({ signal } = {}) => call({ endpoint: 'status', mark: 'ready', signal }),
  }
}
