import type { ConversionListParams, ConversionResult, RatesOf } from '../api/convert.ts'
import type { AnyRowConversion, ConversionRow, ManyConversions } from '../api/convert-many.ts'
import type { CurrencyList } from '../api/currencies.ts'
import type { HistoryResult } from '../api/history-list.ts'
import type {
  HistoryListParams,
  HistoryParams,
  HistoryRange,
  HistoryRangeParams,
  RateHistory,
} from '../api/history.ts'
import type {
  DatedRates,
  DatedRatesParams,
  LatestParams,
  LatestRates,
  RuledRates,
  RuledRatesParams,
} from '../api/latest.ts'
import type { SourceList } from '../api/sources.ts'
import type { ServiceStatus } from '../api/status.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import type { Call, CallOptions } from './request.ts'

/**
 * The operations of `/api/v1`. Each call resolves to a new object, and rejects with a `RatesError` on failure or with the
 * reason of `signal` after an abort.
 */
export interface RatesClient {
  /**
   * Returns the reference rates of a day by a rule, such as the next published day, against a base (default USD).
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { asked, date, rates } = await client.latest({ base: 'EUR', date: '2023-12-31', rule: 'next' })
   * console.log(asked, date, rates) // 2023-12-31 2024-01-02 …
   * ```
   */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params: RuledRatesParams<Symbols> & CallOptions,
  ): Promise<RuledRates<RatesOf<Symbols>>>
  /**
   * Returns the reference rates of a day, or of the last published day before it, against a base (default USD); `rates` is
   * typed by `symbols`.
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { date, rates } = await client.latest({ base: 'USD', symbols: ['EUR'], date: '2020-02-29' })
   * console.log(date, rates.EUR) // 2020-02-28 …
   * ```
   */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params: DatedRatesParams<Symbols> & CallOptions,
  ): Promise<DatedRates<RatesOf<Symbols>>>
  /**
   * Returns latest rates against a base (default USD); `rates` is typed by `symbols` (default all currencies).
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { rates, updatedAt } = await client.latest({ base: 'EUR', symbols: ['USD', 'GBP'] })
   * console.log(rates.USD, new Date(updatedAt))
   * ```
   */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params?: LatestParams<Symbols> & CallOptions,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  /**
   * Converts an amount (default 1) into one currency, or into several if `to` is an array.
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { result } = await client.convert({ from: 'USD', to: 'EUR', amount: 100 })
   * const { results } = await client.convert({ from: 'USD', to: ['EUR', 'GBP'], amount: 100 })
   * console.log(result, results.GBP.rate)
   * ```
   */
  convert<const Params extends ConversionListParams & CallOptions>(
    params: Params & {
      [Name in Exclude<keyof Params, keyof (ConversionListParams & CallOptions)>]: never
    },
  ): Promise<ConversionResult<Params>>
  /**
   * Converts up to 10,000 amounts with one request of at most 1 MiB. The result for each row, in order, is what `convert`
   * returns for it, or `{ error }`: an invalid row does not fail the others.
   *
   * @throws {RatesError} `invalid_parameter` unless `rows` is an array within these limits
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const results = await client.convertMany([
   *   { date: '2026-01-15', from: 'USD', to: 'EUR', amount: 12.5 },
   *   { date: '2026-01-16', from: 'GBP', to: 'EUR', amount: '99.90' },
   * ])
   * for (const row of results) console.log('error' in row ? row.error.message : row.result)
   * ```
   */
  convertMany<const Rows extends readonly ConversionRow[]>(
    rows: Rows,
    options?: CallOptions,
  ): Promise<ManyConversions<Rows>>
  /**
   * Returns the reference rates of a pair from one day to another.
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const year = { start: '2024-01-01', end: '2024-12-31', interval: 'month' } as const
   * const { points } = await client.history({ from: 'EUR', to: 'USD', ...year })
   * for (const { d, r } of points) console.log(d, r)
   * ```
   */
  history(params: HistoryRangeParams & CallOptions): Promise<HistoryRange>
  /**
   * Returns the reference rates of a pair over a period that ends on the newest published day.
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { points, stats } = await client.history({ from: 'EUR', to: 'USD', period: '1Y' })
   * console.log(points.length, stats.high, stats.highDate)
   * ```
   */
  history(params: HistoryParams & CallOptions): Promise<RateHistory>
  /**
   * Returns the reference rates of several pairs if `to` is an array (at most 20 codes), and those of every calendar day with
   * `fill`.
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const years = { start: '2021-01-01', interval: 'year', value: 'average' } as const
   * const { series } = await client.history({ from: 'EUR', to: ['USD', 'GBP'], ...years })
   * for (const { d, r } of series.GBP.points) console.log(d, r)
   * ```
   */
  history<const Params extends HistoryListParams & CallOptions>(
    params: Params & {
      [Name in Exclude<keyof Params, keyof (HistoryParams & CallOptions)>]: never
    },
  ): Promise<HistoryResult<Params>>
  /**
   * Returns the currencies and the data sets that cover each of them.
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { currencies } = await client.currencies()
   * for (const { code, name, latest } of currencies) if (latest) console.log(code, name)
   * ```
   */
  currencies(options?: CallOptions): Promise<CurrencyList>
  /**
   * Returns the sources of reference rates with their terms and newest day.
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { sources } = await client.sources()
   * for (const { id, terms, late } of sources) console.log(id, terms, late)
   * ```
   */
  sources(options?: CallOptions): Promise<SourceList>
  /**
   * Returns the readiness and the age of each data set of the service.
   *
   * @example
   * ```ts
   * import { createRatesClient } from 'ratesmith/client'
   *
   * const client = createRatesClient({ baseUrl: 'https://app.example/api' })
   * const { ready, latest } = await client.status()
   * console.log(ready, latest)
   * ```
   */
  status(options?: CallOptions): Promise<ServiceStatus>
}

/** Creates the operations on top of `call`; unknown parameters are not sent. */
export function createOperations(call: Call): RatesClient {
  type Latest = (LatestParams | DatedRatesParams) & CallOptions
  function latest<Symbols extends readonly CurrencyCode[]>(
    params: RuledRatesParams<Symbols> & CallOptions,
  ): Promise<RuledRates<RatesOf<Symbols>>>
  function latest<Symbols extends readonly CurrencyCode[]>(
    params: DatedRatesParams<Symbols> & CallOptions,
  ): Promise<DatedRates<RatesOf<Symbols>>>
  function latest<Symbols extends readonly CurrencyCode[]>(
    params?: LatestParams<Symbols> & CallOptions,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  function latest<Rates>(params: Latest = {}): Promise<LatestRates<Rates>> {
    return call({
      endpoint: 'latest',
      query: tableQuery(params),
      field: 'rates',
      signal: params.signal,
    })
  }

  type Convert = ConversionListParams & CallOptions
  function convert<Params extends Convert>(params: Params): Promise<ConversionResult<Params>>
  function convert(params: Convert): Promise<ConversionResult<ConversionListParams>> {
    const field = Array.isArray(params.to) ? 'results' : 'result'
    return call({
      endpoint: 'convert',
      query: conversionQuery(params),
      field,
      signal: params.signal,
    })
  }

  type History = HistoryListParams & CallOptions
  function history(params: HistoryRangeParams & CallOptions): Promise<HistoryRange>
  function history(params: HistoryParams & CallOptions): Promise<RateHistory>
  function history<Params extends History>(params: Params): Promise<HistoryResult<Params>>
  function history(params: History): Promise<HistoryResult<HistoryListParams>> {
    const field = Array.isArray(params.to) ? 'series' : 'points'
    return call({ endpoint: 'history', query: historyQuery(params), field, signal: params.signal })
  }

  return {
    latest,
    convert,
    convertMany: createConvertMany(call),
    history,
    currencies: ({ signal } = {}) => call({ endpoint: 'currencies', field: 'currencies', signal }),
    sources: ({ signal } = {}) => call({ endpoint: 'sources', field: 'sources', signal }),
    status: ({ signal } = {}) => call({ endpoint: 'status', field: 'ready', signal }),
  }
}

function tableQuery(params: LatestParams | DatedRatesParams) {
  const { base, symbols, date, rule, maxAge, source } = params
  // An empty list means all currencies.
  return { base, symbols: symbols?.join() || undefined, date, rule, maxAge, source }
}

function conversionQuery(params: ConversionListParams) {
  const { from, to, amount, date, rule, maxAge, source, reverse, round, expand } = params
  const target = writeTarget(to)
  return { from, to: target, amount, date, rule, maxAge, source, reverse, round, expand }
}

function historyQuery(params: HistoryListParams) {
  const { from, to, period, start, end, interval, value, fill, source } = params
  return { from, to: writeTarget(to), period, start, end, interval, value, fill, source }
}

function createConvertMany(call: Call): RatesClient['convertMany'] {
  function convertMany<Rows extends readonly ConversionRow[]>(
    rows: Rows,
    options?: CallOptions,
  ): Promise<ManyConversions<Rows>>
  function convertMany(
    rows: readonly ConversionRow[] | undefined,
    { signal }: CallOptions = {},
  ): Promise<AnyRowConversion[]> {
    return call({ endpoint: 'convert', content: rows ?? null, field: 'length', signal })
  }
  return convertMany
}

/** Returns the parameter `to` for a code or a list of codes; untyped callers may pass anything. */
function writeTarget(to: ConversionListParams['to']): string | undefined {
  // A trailing comma makes a list of one code; a comma inside a code must not make a list.
  if (Array.isArray(to)) return to.map(writeTarget).join() + (to.length === 1 ? ',' : '')
  return to && [to].join().replaceAll(',', ';')
}
