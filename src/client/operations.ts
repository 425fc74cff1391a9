import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { RatesOf } from '../records/by-code.ts'
import type { ConversionAnswer, ConversionsQuestion } from '../records/conversions.ts'
import type { CurrenciesRecord } from '../records/currencies.ts'
import type { DatedLatestQuestion, DatedLatestRecord } from '../records/dated-latest.ts'
import type { HistoryRangeQuestion, HistoryRangeRecord } from '../records/history-range.ts'
import type { HistoryQuestion, HistoryRecord } from '../records/history.ts'
import type { LatestQuestion, LatestRecord } from '../records/latest.ts'
import type { StatusRecord } from '../records/status.ts'
import type { Call } from './call.ts'
import { writeTarget } from './questions.ts'
import type { CallOptions } from './questions.ts'

/** The operations of `/api/v1`. Each resolves to a record that is the caller's own, or rejects with a `RatesError`. */
export interface RatesClient {
  /** The reference rates of a day against a base; `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    question: DatedLatestQuestion<Symbols> & CallOptions,
  ): Promise<DatedLatestRecord<RatesOf<Symbols>>>
  /** Latest rates against a base; `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    question?: LatestQuestion<Symbols> & CallOptions,
  ): Promise<LatestRecord<RatesOf<Symbols>>>
  /** An amount of one currency in another, or in several. */
  convert<const Question extends ConversionsQuestion & CallOptions>(
    question: Question & {
      [Name in Exclude<keyof Question, keyof (ConversionsQuestion & CallOptions)>]: never
    },
  ): Promise<ConversionAnswer<Question>>
  /** Reference rates of a pair from one day to another. */
  history(question: HistoryRangeQuestion & CallOptions): Promise<HistoryRangeRecord>
  /** Reference rates of a pair, back from the newest published day. */
  history(question: HistoryQuestion & CallOptions): Promise<HistoryRecord>
  /** The currencies, and where there are rates for them. */
  currencies(options?: CallOptions): Promise<CurrenciesRecord>
  /** How fresh the data of the service are. */
  status(options?: CallOptions): Promise<StatusRecord>
}

/** The operations as questions to `call`; what a question does not know is not sent. */
export function createOperations(call: Call): RatesClient {
  function latest<Symbols extends readonly CurrencyCode[]>(
    question: DatedLatestQuestion<Symbols> & CallOptions,
  ): Promise<DatedLatestRecord<RatesOf<Symbols>>>
  function latest<Symbols extends readonly CurrencyCode[]>(
    question?: LatestQuestion<Symbols> & CallOptions,
  ): Promise<LatestRecord<RatesOf<Symbols>>>
  function latest<Rates>({
    base,
    symbols,
    date,
    signal,
  }: (LatestQuestion | DatedLatestQuestion) & CallOptions = {}): Promise<LatestRecord<Rates>> {
    // An empty list asks for all, as none does.
    const query = { base, symbols: symbols?.join() || undefined, date }
    return call({ endpoint: 'latest', query, mark: 'rates', signal })
  }

  function convert<Question extends ConversionsQuestion & CallOptions>(
    question: Question,
  ): Promise<ConversionAnswer<Question>>
  function convert({
    from,
    to,
    amount,
    date,
    reverse,
    signal,
  }: ConversionsQuestion & CallOptions): Promise<ConversionAnswer<ConversionsQuestion>> {
    const query = { from, to: writeTarget(to), amount, date, reverse }
    const mark = Array.isArray(to) ? 'results' : 'result'
    return call({ endpoint: 'convert', query, mark, signal })
  }

  function history(question: HistoryRangeQuestion & CallOptions): Promise<HistoryRangeRecord>
  function history(question: HistoryQuestion & CallOptions): Promise<HistoryRecord>
  function history({
    from,
    to,
    period,
    start,
    end,
    interval,
    signal,
  }: (HistoryQuestion | HistoryRangeQuestion) & CallOptions): Promise<
    HistoryRecord | HistoryRangeRecord
  > {
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
